"""The report: figures, places and reasons as frozen records, and their JSON."""
