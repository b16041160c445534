"""Measures the special functions (MUFU) of a GPU for every input, and derives the coefficients of its interpolator.

    python -m bench.special_functions build build/special                       no GPU needed
    python3 build/special/measure.py -o special.npz                             on a GPU; needs numpy and cuda-bindings
    python -m bench.special_functions fit special.npz                           prints the tables
    python -m bench.special_functions check special.npz                         every input against engine.ops.mufu
    python -m bench.special_functions data special.npz -o tests/data            the data of the tests

`functions.cu` evaluates a function on consecutive inputs and sums a checksum for each 65,536 of them; `operations`
has a PTX kernel for each float operation and its inputs, `indices` has CUDA kernels that compute an index with
divisions, roots and similar functions.
"""
