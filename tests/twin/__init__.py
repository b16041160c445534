"""A slow, obvious PTX interpreter: the dumb twin of lifting and of the lane engine.

It works from the syntax tree (`ptxaudit.ptx.syntax`), one lane at a time, with Python's integers: no
IR, no arrays, no slices, no symbols. `run.requests(text, kernel, launch)` gives every request of every
site; `count` scores them by loops; `compare` holds `ptxaudit.lanes` against both.

    code     syntax tree -> a flat list of steps, labels resolved, names in their scopes
    arith    what an opcode computes from integers
    floats   the same for bit patterns of floats, through exact fractions
    run      warps in lockstep: a stack of (place, meeting place, lanes); memory; barriers
    count    wavefronts of one request, by HARDWARE's sentences
    generate random kernels      c_side   the same expressions in C
"""
