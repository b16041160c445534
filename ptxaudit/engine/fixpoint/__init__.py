"""Abstract interpretation of a slice without execution: hypotheses about loops, joins, widening."""
