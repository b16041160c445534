"""The report: figures, locations and reasons as frozen records, and their JSON."""
