"""PTX: text to syntax tree (`parse`), syntax tree to text (`printer`) and to operations (`lift`)."""
