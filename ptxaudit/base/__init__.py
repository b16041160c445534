"""The base of every package: errors, records, text, files, processes, limits. Nothing here knows what a kernel is."""
