"""Runs a program on a terminal, for tests of what people see."""

import os
import pty
import subprocess
import sys


def on_a_terminal(*words, cwd, messages=True, **environment):
    """The text on the terminal, and the exit status. messages: includes standard error, such as progress."""
    leader, follower = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=cwd,
        stdin=follower,
        stdout=follower,
        stderr=follower if messages else subprocess.DEVNULL,
        env=known | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment,
    ) as child:
        os.close(follower)
        written = b""
        try:
            while chunk := os.read(leader, 65536):
                written += chunk
        except OSError:  # the other end is closed
            pass
    os.close(leader)
    return written.decode(), child.returncode
