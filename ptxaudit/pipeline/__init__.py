"""Turns inputs into examined kernels: loads, analyses and assembles them; `kernels.examine_kernels` shows it all."""
