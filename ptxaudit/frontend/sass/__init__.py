"""Machine code: disassembled in batches, operands parsed by grammar, lifted to `ir`."""
