"""From what a user names to the intermediate representation: files, containers, compilers, the two instruction sets,
launches.
"""
