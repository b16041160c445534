"""Launches: grid, block, parameters, buffers and variables, as the bytes that a kernel sees."""
