"""Global and local accesses on a GPU: kernels, their launches, and what Nsight Compute counts for each instruction."""
