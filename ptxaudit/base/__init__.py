"""What everything else stands on: errors, records, text, files, processes, limits. Nothing here knows what a kernel
is.
"""
