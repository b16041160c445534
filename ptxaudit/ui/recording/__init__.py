"""Follows a program: what it compiles and launches, as a folder that can be audited anywhere.

program   runs it, with `inside` in its Python and `injection.c` at its driver
inside    listens to the frameworks, and writes events
finish    events -> code, launch file (`ptxaudit.frontend.recorded.folder`)
"""
