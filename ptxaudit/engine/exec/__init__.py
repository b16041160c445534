"""Execution of a slice under a launch: all warps at once, paths split where lanes diverge."""
