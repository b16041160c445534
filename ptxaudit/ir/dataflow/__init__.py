"""Algorithms on the graphs of a function, in linear time: dominators, definitions, closures."""
