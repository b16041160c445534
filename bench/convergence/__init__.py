"""How the lanes of a warp part and meet: kernels that write down who runs together, and what they say
(docs/convergence.md).
"""
