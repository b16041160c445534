"""The state of a run: registers and, by one protocol, parameters, constants, given buffers, shared and local memory."""
