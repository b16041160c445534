"""Measures what PTX instructions compute: every form that a row of the frontend supports, on a GPU, against the engine.

    python -m bench.ptx_forms plan FOLDER                           no GPU needed: programs, assembled at -O3 and -O0
    python3 bench/ptx_forms/measure.py FOLDER -o OUT                on a GPU; needs numpy and cuda-bindings
    python -m bench.ptx_forms check FOLDER OUT                      every result that is called known is compared
    python -m bench.ptx_forms keep FILE FOLDER OUT                  some of it as data of the tests
    python -m bench.ptx_forms unmodelled                            opcodes that ptxas accepts and no row supports

The forms are enumerated from the rows: all modifiers and types that they declare (`opcodes`), with registers and
constants in each place, predicates, and results in the registers of sources (`programs`), on numbers at which operations
differ (`inputs`). ptxas decides which of them exist.
"""
