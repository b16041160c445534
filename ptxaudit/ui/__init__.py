"""The interfaces to people and other programs: command line, pages and formats, plugins, recipes."""
