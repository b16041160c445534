"""Measures how the lanes of a warp diverge and reconverge, with kernels that record which lanes run together.

docs/convergence.md has the results.
"""
