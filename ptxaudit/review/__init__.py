"""Audits and their uses: rules and gates, baselines, comparisons, repairs, explanations."""
