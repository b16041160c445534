"""`python -m ptxaudit` is the `ptxaudit` command."""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]  # `-m` puts the working folder first: nothing may be imported from there

from ptxaudit.ui.cli import program

program()
