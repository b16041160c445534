"""Reads compiled artifacts: the kernels in a file, and everything about them except their instructions."""
