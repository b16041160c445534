"""Shared by tests of the command line: a working folder with files, and running the command in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxaudit.ui.cli import main


def run(*arguments: object, status: int = 0, stdin: str | bytes | None = None) -> Result:
    """Runs the command with these words, in this process. It must exit with the status, and without a traceback."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == status, result.output + str(result.exception)
    assert "Traceback" not in result.output, result.output
    return result


def folder_with(files: Mapping[str, str]) -> Callable[..., Path]:
    """A fixture: an empty working folder with these files in it."""

    @pytest.fixture
    def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return tmp_path

    return here
