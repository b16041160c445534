"""The lane engine: every request of every shared-memory access, with a launch or without.

`engine.evaluate.evaluate` is the entry. With a launch it runs the slice of the kernel as the hardware would (`exec`)
and counts; what a run cannot say, and everything when no launch is specified, comes from the abstract interpretation
of the same slice (`fixpoint`), which answers per request. `domain` is what a register can be, `ops` what an operation
makes of it, `memory` where values are kept, `answer` what is said of each site.
"""
