"""Measures how the lanes of a warp diverge and reconverge: kernels that record which lanes run together, and the
records (docs/convergence.md).
"""
