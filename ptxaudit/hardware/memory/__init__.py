"""Global and local memory: which instructions access it, and what a request transfers.

A *sector* is 32 aligned bytes, a *line* is four sectors (128 bytes). The L1 looks up lines (a *tag request* each);
sectors are transferred between L1 and L2. A request (one warp executes one instruction once) transfers

    global    the distinct sectors that its active lanes access
    local     the same, where word w of lane l is at 128·w + 4·l: a word that all lanes access is four sectors

`sites` selects the instructions to examine, `opcodes` decodes them, `sectors` counts, `rules` is the table with its
evidence. The rest is the engine for shared memory: a site is a site, of any memory.
"""
