"""Machine code: disassembled in batches, with operands parsed by grammar, and lifted to `ir`."""
