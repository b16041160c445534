"""What each operation means: on known values exactly, on abstract values by sound rules."""
