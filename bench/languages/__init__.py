"""Kernels in languages with their own compilers, compiled without a GPU, to be measured on one.

    python -m bench.languages.triton_cases FOLDER      with Triton: 174 launches
    python -m bench.languages.tile_cases FOLDER        with cuda.tile and tileiras of CUDA 13.5 (supports sm_90): 112
    python -m bench.languages.written_cases FOLDER     in C with clang, in PTX, and with Numba: 430, written by hand

Each writes a plan as `bench.adversary.plan` does, for `python -m bench.adversary.gpu run` and `bench.adversary
compare`. docs/truth.md has the results.
"""
