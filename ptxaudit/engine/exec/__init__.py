"""Execution of a slice under a launch: all warps at once, split where lanes diverge."""
