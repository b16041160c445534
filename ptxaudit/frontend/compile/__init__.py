"""Compilers: CUDA source to PTX and cubin by NVRTC, nvcc and ptxas, and where their releases are found."""
