"""A slow, obvious PTX interpreter: the plain twin of lifting and of the engine.

It parses the text itself and executes one lane at a time with Python's integers. It has no IR, arrays, slices or
symbols, and uses nothing of the package. `run.requests(text, kernel, launch)` returns every request of every site;
`count` scores them by loops; `compare` compares `ptxaudit.engine` with both.

    parse         text -> a syntax tree
    code          syntax tree -> a flat list of steps, with labels resolved and names looked up in their scopes
    arith floats  what an opcode computes, from integers and exact fractions;  opcodes  all of them on awkward values
    meeting       where diverged lanes reconverge
    instructions across memory    the effect of one step on the lanes of a warp
    run           blocks, warps, barriers, and which lanes execute together
    count         wavefronts of one request, by the rules of tests/support/reference.py
    values accesses statements idioms generate        random kernels
    tables        random kernels that write numbers to shared memory and read them back
    c_side c_table      the same kernels as compiled C
    machine       the engine on machine code that ptxas makes from them
    instrument    the same kernels recording their accesses, for a GPU
"""
