"""Proved repairs of shared-memory conflicts: `repairs.repairs_of` is the entry, `layouts` has the theory."""
