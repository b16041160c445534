"""Kernels written to break the engine, measured on a GPU; compares every claim about them with the counters.

    python -m bench.adversary source 17                           the kernel of a seed
    python -m bench.adversary plan build/adversary 0:94           compiles its builds, plans its launches
    python -m bench.adversary.gpu run build/adversary -o results  on a GPU with ncu on the PATH
    python -m bench.adversary.by_hand build/by_hand               a plan of the kernels that are written by hand
    python -m bench.adversary compare build/adversary results     the claims under every telling against the counters
    python -m bench.adversary compare build/adversary results --space all    also global and local memory
    python -m bench.adversary agree 0:500                         without a GPU: claims that contradict each other
    python -m bench.adversary agree --plan build/by_hand          the same for a plan
    python -m bench.adversary keep build/adversary results -o tests/data/adversary_sm90 k17.nvcc-O0.cubin …
    python -m bench.adversary reduce build/adversary results 17 nvcc-O0 3 0x1d20   a smaller kernel with that claim

A seed determines a kernel: one of the constructs of `features` and `features_*`, in rotation, some others, and random
statements in between (`generate`). Each kernel has several builds (`builds`) and launches of several shapes (`plan`).
`gpu` does not need ptxaudit: it finds launches that hang or fault, then profiles the others. `truth` reads its
results, `telling` determines how much of a launch is specified to the engine, `claims` compares one audited launch
with the counters, and `check` does so for all.

Every kernel terminates, stays in its own memory, and behaves the same in every run, except for values that races
write, which decide no address and no branch (`writer`). `active_lanes` and `coalesced` depend on which lanes the
hardware keeps converged.
"""
