"""Measures what single machine instructions compute: encodings at random, on a GPU, against the lifter and the engine.

    python -m bench.encodings plan FOLDER CUBIN|LIBRARY…            no GPU needed: instructions to be measured
    python3 bench/encodings/measure.py FOLDER -o OUT                on a GPU; needs numpy and cuda-bindings
    python -m bench.encodings check FOLDER OUT                      every result that is called known is compared

An instruction of a library says which opcodes and modifiers exist; `plan` sets, clears and combines their bits, and
keeps what nvdisasm decodes and what has no effect except on registers and predicates. Each runs in the middle of one
small kernel (`slots`), between the loads of all its inputs and the stores of all registers, so that a register which the
lifter does not know to be written is found, too.
"""
