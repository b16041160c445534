"""What changed between reports: kernels and sites matched, changes judged, releases searched."""
