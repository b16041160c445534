"""Runs the examples of README.md: `python tests/support/readme.py` compares, `python tests/support/readme.py --write` rewrites the
outputs; `python tests/support/readme.py --write docs/tour.md` does so for another page.

```console                  lines with `$ ` are commands, in a folder with `samples` in it, and tests/data as `measured`;
$ ptxaudit machines         the following lines are their output (stdout and stderr)
```

```pycon                    `>>> ` and `... ` are Python, the following lines are its output
```
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner
from paths import DATA, ROOT

from ptxaudit.ui.cli import main

README = ROOT / "README.md"
TOUR = ROOT / "docs" / "tour.md"
BY_BLOCK = (README, TOUR)  # each block is a test; they run in order in one folder

_BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OWN = re.compile(  # a command of ptxaudit, and how the shell uses its output
    r"""(?P<command>ptxaudit(?:\ (?:'[^']*'|[^\s|;<>&$*`\\'"])+)+)
        (?P<both>\ 2>&1)? (?:\ >\ (?P<file>[\w./]+))? (?P<filter>\ \|\ [^;&]+)? (?P<status>;\ echo\ "exit\ status\ \$\?")?""",
    re.VERBOSE,
)
_VOLATILE = re.compile(
    r"%[a-z]+\d+|(?<=nvrtc )\d+\.\d+"
)  # register numbers depend on the compiler, and the newest one is installed


def blocks(text: str) -> list[tuple[str, str]]:
    """(kind, content) of the blocks whose output is checked."""
    return [(match[1], match[2]) for match in _BLOCK.finditer(text)]


def commands(content: str) -> list[str]:
    """The commands of a console block, with continued lines joined as in the shell."""
    joined = content.replace("\\\n", "")
    return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def rewritten(kind: str, content: str, folder: Path) -> str:
    """The block with the current output of its commands."""
    return _console(content, folder) if kind == "console" else _python(content, folder)


def _console(content: str, folder: Path) -> str:
    lines = []
    for command in commands(content):
        lines += [f"$ {command}\n", printed(command, folder)]
    return "".join(lines)


def printed(command: str, folder: Path) -> str:
    """The output that a shell shows for a command, with a single final newline."""
    said = ""
    for part in command.split(" && ") if _OWN.search(command) else [command]:
        own = _OWN.fullmatch(part)
        text, status = _of_ptxaudit(own, folder) if own else _of_shell(part, folder)
        said += text
        if status:
            break
    text = "\n".join(line.rstrip() for line in said.splitlines()).strip("\n")
    return f"{text}\n" if text else ""


def _of_ptxaudit(own: re.Match[str], folder: Path) -> tuple[str, int]:
    """(output of the command, its status), in this process: one NVRTC compiles for all blocks."""
    with contextlib.chdir(folder):
        done = CliRunner().invoke(main, shlex.split(own["command"])[1:], prog_name="ptxaudit")
    if not (own["file"] or own["filter"]):
        printed, status = done.output, done.exit_code
    else:
        passed, printed = (done.output, "") if own["both"] else (done.stdout, done.stderr)
        if own["file"]:
            (folder / own["file"]).write_text(passed, encoding="utf-8")
            passed, status = "", done.exit_code
        if own["filter"]:
            passed, status = _of_shell(own["filter"].removeprefix(" | "), folder, passed)
        printed += passed
    return (printed + f"exit status {status}\n", 0) if own["status"] else (printed, status)


def _of_shell(command: str, folder: Path, given: str = "") -> tuple[str, int]:
    """(output, status)."""
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", "/usr/bin:/bin")]
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MAKE") and name not in ("ARGS", "SAMPLE", "KERNEL")
    }
    environment = inherited | {
        "PATH": os.pathsep.join(folders),
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
    }
    if command.startswith("make "):  # with this interpreter's packages, which are installed already
        done_already = "".join(f"-o {sys.prefix}/.ptxaudit-{what} " for what in ("installed", "test-installed"))
        command = command.replace("make ", f"make --no-print-directory -C {ROOT} {done_already}VENV={sys.prefix} ", 1)
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        input=given.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return done.stdout.decode(), done.returncode


def _python(content: str, folder: Path) -> str:
    written, names = [], {"__name__": "__readme__"}
    here = Path.cwd()
    os.chdir(folder)
    try:
        for example in doctest.DocTestParser().get_examples(content):
            first, *more = example.source.splitlines()
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(example.source, str(README), "single"), names)
            written += [f">>> {first}\n", *(f"... {line}".rstrip() + "\n" for line in more), out.getvalue()]
    finally:
        os.chdir(here)
    return "".join(written)


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """A folder with nothing but the samples and the measurements."""
    with tempfile.TemporaryDirectory(prefix="ptxaudit-readme-") as name:
        folder = Path(name)
        (folder / "samples").symlink_to(ROOT / "samples")
        (folder / "measured").symlink_to(DATA)
        yield folder


_FETCHED = re.compile(r"^ptxaudit: downloading CUDA .*\n", re.MULTILINE)


def comparable(text: str) -> str:
    """A text without register numbers, compiler versions, and messages about the first download of a release."""
    return _VOLATILE.sub("…", _FETCHED.sub("", text))


def filled(text: str, folder: Path) -> str:
    """A page with the current output of its commands, run in order."""
    return _BLOCK.sub(lambda match: f"```{match[1]}\n{rewritten(match[1], match[2], folder)}```", text)


def compare() -> int:
    names = [name for name in sys.argv[1:] if name != "--write"]
    differ = False
    for page in [Path(name) for name in names] or [README]:
        text = page.read_text(encoding="utf-8")
        with working_folder() as folder:
            new = filled(text, folder)
        if "--write" in sys.argv[1:]:
            page.write_text(new, encoding="utf-8")
            continue
        before, now = comparable(text), comparable(new)
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), now.splitlines(True), str(page), "now"))
        differ = differ or before != now
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(compare())
