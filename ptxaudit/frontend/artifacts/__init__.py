"""Reads compiled artifacts: what kernels a file holds, and everything of them but the instructions."""
