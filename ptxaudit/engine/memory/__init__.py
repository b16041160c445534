"""Where loaded values come from: parameters, constants, given buffers, shared and local memory."""
