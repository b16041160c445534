"""One module per subcommand of `ptxaudit`. Each exports `command` and imports the rest when it runs."""
