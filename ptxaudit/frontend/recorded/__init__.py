"""Launch information stored beside compiled code: recordings, and the metadata in Triton's cache."""
