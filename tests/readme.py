"""Runs what README.md shows: `python -m tests.readme` compares, `python -m tests.readme --write` writes the outputs
anew.

```console                  lines with `$ ` are commands, in a folder with nothing but `samples` in it;
$ ptxaudit machines         what follows is what they print (stdout and stderr)
```

```pycon                    `>>> ` and `... ` are Python, what follows is what it prints
```
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
README = CHECKOUT / "README.md"

_BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VOLATILE = re.compile(
    r"%[a-z]+\d+|(?<=nvrtc )\d+\.\d+"
)  # compilers number registers as they like, and the newest one is installed


def blocks(text: str) -> list[tuple[str, str]]:
    """(kind, content) of the blocks whose output is checked."""
    return [(match[1], match[2]) for match in _BLOCK.finditer(text)]


def commands(content: str) -> list[str]:
    """The commands of a console block, continued lines joined as the shell would."""
    joined = content.replace("\\\n", "")
    return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def rewritten(kind: str, content: str, folder: Path) -> str:
    """The block with what its commands print now."""
    return _console(content, folder) if kind == "console" else _python(content, folder)


def _console(content: str, folder: Path) -> str:
    lines = []
    for command in commands(content):
        lines += [f"$ {command}\n", printed(command, folder)]
    return "".join(lines)


def printed(command: str, folder: Path) -> str:
    """What a shell prints for a command, without the newlines at its end but one."""
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", "/usr/bin:/bin")]
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MAKE") and name not in ("ARGS", "SAMPLE", "KERNEL")
    }
    environment = inherited | {
        "PATH": os.pathsep.join(folders),
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONIOENCODING": "utf-8",
    }
    if command.startswith("make "):  # with this interpreter's packages, which are installed already
        stamp = f"{sys.prefix}/.ptxaudit-installed"
        command = command.replace("make ", f"make --no-print-directory -C {CHECKOUT} -o {stamp} VENV={sys.prefix} ", 1)
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120
    )
    text = "\n".join(line.rstrip() for line in done.stdout.decode().splitlines()).strip("\n")
    return f"{text}\n" if text else ""


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
    """An empty folder but for the samples."""
    with tempfile.TemporaryDirectory(prefix="ptxaudit-readme-") as name:
        folder = Path(name)
        (folder / "samples").symlink_to(CHECKOUT / "samples")
        yield folder


def comparable(text: str) -> str:
    """Register numbers and compiler versions aside."""
    return _VOLATILE.sub("…", text)


def main() -> int:
    text = README.read_text(encoding="utf-8")
    with working_folder() as folder:
        new = _BLOCK.sub(lambda match: f"```{match[1]}\n{rewritten(match[1], match[2], folder)}```", text)
    if "--write" in sys.argv[1:]:
        README.write_text(new, encoding="utf-8")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(comparable(text).splitlines(True), comparable(new).splitlines(True), "README.md", "now")
    )
    return 1 if comparable(text) != comparable(new) else 0


if __name__ == "__main__":
    sys.exit(main())
