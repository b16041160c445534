"""What people and other programs meet: the command line, pages and formats, plugins, recipes."""
