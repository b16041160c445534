"""Repairs of shared-memory conflicts that are proved: `repairs.repairs_of` is the entry, `layouts` has the theory."""
