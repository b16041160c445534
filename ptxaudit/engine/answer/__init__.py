"""From requests, counted or abstract, to a figure, a range or a reason for each site."""
