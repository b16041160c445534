"""Measures global and local accesses on a GPU: kernels, their launches, and Nsight Compute's counters per
instruction.
"""
