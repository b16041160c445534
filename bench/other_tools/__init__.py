"""Figures of other tools for accesses that a hardware counter counted separately: `python -m bench.other_tools`."""
