"""A slow, obvious PTX interpreter: the dumb twin of lifting and of the lane engine.

It works from the text, by a parser of its own, one lane at a time, with Python's integers: no IR, no arrays, no
slices, no symbols, and nothing of the package. `run.requests(text, kernel, launch)` gives every request of every
site; `count` scores them by loops; `compare` holds `ptxaudit.engine` against both.

    parse         text -> a syntax tree
    code          syntax tree -> a flat list of steps, labels resolved, names in their scopes
    arith floats  what an opcode computes, from integers and exact fractions;  opcodes  all of them on awkward values
    meeting       where lanes that part meet again
    instructions across memory    what one step does to the lanes of a warp
    run           blocks, warps, barriers, and which lanes go on together
    count         wavefronts of one request, by the rules of tests/reference.py
    values accesses statements idioms generate        random kernels
    tables        random kernels that write numbers to shared memory and read them back
    c_side c_table      the same kernels as compiled C
    machine       the engine on what ptxas makes of them
    instrument    the same kernels writing down their accesses, for a GPU
"""
