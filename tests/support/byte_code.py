"""Compiles byte code once, even if Python is told to write none.

pytest rewrites the assertions of some seven hundred modules. Otherwise each process of a run, and each of the
hundreds of commands that tests start, would do that or compile the modules itself. They share a separate folder,
which is deleted when the run ends; byte code of the checkout and of installed packages remains for the next run, in
build/bytecode. Nothing is written next to a source. Importing this module, which conftest.py does first, has this
effect.
"""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from paths import ROOT, TESTS

LASTING = (ROOT, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())  # unchanged in the next run
KEPT = ROOT / "build" / "bytecode"


def _share() -> None:
    """Processes of pytest-xdist, and commands, find the folder in their environment."""
    sys.pycache_prefix = tempfile.mkdtemp(prefix="ptxaudit-bytecode-")
    for folder in LASTING:
        with suppress(OSError):  # nested folders; a read-only checkout
            lasting = KEPT.joinpath(*folder.parts[1:])
            lasting.mkdir(parents=True, exist_ok=True)
            here = Path(sys.pycache_prefix, *folder.parts[1:])
            here.parent.mkdir(parents=True, exist_ok=True)
            here.symlink_to(lasting)
    sys.dont_write_bytecode = False
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def made_in_turns(config: pytest.Config) -> None:
    """Each process of a run of all tests starts with different modules, and finds the byte code of the others'."""
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    modules = sorted(TESTS.rglob("test_*.py"))
    first = len(modules) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for path in modules[first:]:
        if (folder := str(path.parent)) not in sys.path:
            sys.path.insert(0, folder)  # as pytest does when it collects the file
        with suppress(Exception, pytest.skip.Exception):  # collecting it reports the error
            importlib.import_module(path.stem)


if sys.dont_write_bytecode:
    _share()
