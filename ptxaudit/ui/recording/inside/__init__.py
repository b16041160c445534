"""What runs inside the program that is recorded.

It imports nothing but the standard library, in Python 3.9 or later, and nothing of this package that does: the program
may run in an environment of its own. Whatever goes wrong here becomes a note of the recording; the program goes on.
"""
