"""Audits, and what is made of them: rules and gates, baselines, comparisons, repairs, explanations."""
