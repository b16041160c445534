"""The intermediate representation of PTX and SASS: instructions, operations, linked calls, control flow, slices."""
