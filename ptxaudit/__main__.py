"""`python -m ptxaudit` is the `ptxaudit` command."""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]  # the working folder, which `-m` puts first: nothing is imported or run out of it

from ptxaudit.ui.cli import program

program()
