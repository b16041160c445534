"""The lane engine: every request of every shared-memory access, with or without a launch.

`engine.evaluate.evaluate` is the entry point. With a launch, it executes the slice of the kernel as the hardware would
(`exec`) and counts. Everything that execution leaves open, and every site when no launch is specified, is answered per
request by abstract interpretation of the same slice (`fixpoint`). `domain` has the abstract values of a register,
`ops` their transfer functions, `memory` the state spaces, `answer` the answer for each site.
"""
