"""Compares reports: matches kernels and sites, judges changes, searches releases."""
