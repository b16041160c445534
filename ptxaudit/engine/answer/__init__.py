"""Turns requests, counted or abstract, into a figure, a range or a reason for each site."""
