"""Global and local memory beside shared: which instructions access it, and what a request moves.

A *sector* is 32 aligned bytes, a *line* four of them (128 bytes): what the L1 looks up once is a line (a *tag
request*), what moves between L1 and L2 is a sector. One request, that is one warp executing one instruction once, moves

    global    the distinct sectors that its active lanes touch
    local     the same, where lane l's word w lies at 128·w + 4·l: a word that all lanes have in common is four sectors

`sites` says which instructions are examined, `opcodes` what each accesses, `sectors` counts, `rules` has the table with
its evidence. Everything else is the engine that examines shared memory: a site of another memory is a site.
"""
