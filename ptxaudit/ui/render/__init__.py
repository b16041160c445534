"""Writes reports, diffs and explanations for people: pure functions from records to text."""
