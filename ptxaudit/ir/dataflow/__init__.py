"""What the graphs of a function are asked, in time that is linear in their size: dominators, definitions, closures."""
