"""Where values are kept: registers; by one protocol parameters, constants, given buffers, shared and local memory."""
