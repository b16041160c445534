"""The code that runs inside the recorded program.

It imports only the standard library, in Python 3.9 or later, and nothing of this package that imports more: the
program may run in its own environment. Any error here becomes a note in the recording; the program continues.
"""
