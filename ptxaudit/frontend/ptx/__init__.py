"""PTX: text to syntax tree (`parse`), and syntax tree to text (`printer`) and to operations (`lift`)."""
