"""One module a subcommand of `ptxaudit`; each exports `command` and imports what it needs when it runs."""
