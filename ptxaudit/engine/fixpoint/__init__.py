"""Abstract interpretation of a slice without a run: loop hypotheses, joins, widening."""
