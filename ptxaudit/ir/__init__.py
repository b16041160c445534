"""The intermediate representation of PTX and SASS: instructions of operations, calls linked, control flow and
slices.
"""
