"""Records the kernels that a program compiles and launches, as a folder that can be audited anywhere.

program   runs it, with `inside` loaded in its Python and `injection.c` in its driver inside    hooks into frameworks
and writes events finish    events -> code, launch file (`ptxaudit.frontend.recorded.folder`)
"""
