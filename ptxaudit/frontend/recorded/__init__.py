"""What lies beside compiled code and says how it was launched: recordings, and what Triton keeps of its kernels."""
