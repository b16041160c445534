"""Turns user inputs into the intermediate representation: files, containers, compilers, both instruction sets,
launches.
"""
