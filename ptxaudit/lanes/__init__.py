"""The lane engine: every request of every shared-memory access, with a launch or without.

`evaluate` is the entry. With a launch it runs the slice of the kernel as the hardware would
(`simulate`) and counts; what a run cannot tell, and everything when no launch is told, comes from
the abstract interpretation of the same slice (`infer`), which answers per request.
"""

from .evaluate import evaluate, not_begun
from .env import Facts

__all__ = ["evaluate", "not_begun", "Facts"]
