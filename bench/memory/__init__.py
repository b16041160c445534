"""Measures global and local accesses on a GPU: kernels, their launches, and Nsight Compute's counts by instruction."""
