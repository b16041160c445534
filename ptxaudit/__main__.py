"""`python -m ptxaudit` is the `ptxaudit` command."""

from ptxaudit.cli import main

main(prog_name="ptxaudit")
