"""Figures of other tools for accesses that a hardware counter counted by themselves: `python -m bench.other_tools`."""
