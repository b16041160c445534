"""Kernels written to break the engine, measured on a GPU, and every claim about them held against the counters.

    python -m bench.adversary source 17                           the kernel of a seed
    python -m bench.adversary plan build/adversary 0:94           compiles its builds, plans its launches
    python -m bench.adversary.gpu run build/adversary -o results  on a GPU with ncu on the PATH
    python -m bench.adversary.by_hand build/by_hand               a plan of the kernels that are written by hand
    python -m bench.adversary compare build/adversary results     what every telling claims, against what was counted
    python -m bench.adversary agree 0:500                         with no GPU: claims that exclude each other
    python -m bench.adversary keep build/adversary results -o tests/data/adversary_sm90 k17.nvcc-O0.cubin …
    python -m bench.adversary reduce build/adversary results 17 nvcc-O0 3 0x1d20   a smaller kernel of that claim

A seed names a kernel: one of the constructs of `features` and `features_*` by turns, others beside it, and random
statements between (`generate`). Each is built in several ways (`builds`) and launched with several shapes (`plan`).
`gpu` needs no ptxaudit: it finds launches that hang or fault, then profiles the others. `truth` reads what it
wrote, `telling` says how much of a launch the engine is specified, `claims` holds one audited launch against the counts, and
`check` does so for all.

Every kernel ends, stays in its own memory, and is the same in every run but for what races write, which decides no
address and no branch (`writer`); `active_lanes` and `coalesced` depend on which lanes the hardware keeps together.
"""
