"""Turns user inputs into the intermediate representation: files, containers, compilers, instruction sets, launches."""
