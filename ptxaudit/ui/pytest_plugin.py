"""The pytest plugin: options and a fixture for `ptxaudit.testing.assert_conflict_free`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptxaudit", "shared-memory bank conflicts")
    group.addoption(
        "--ptxaudit-toolchain",
        metavar="VERSION",
        help="Compile the sources of assert_conflict_free with this CUDA release (12.9).",
    )
    group.addoption(
        "--ptxaudit-report",
        metavar="DIR",
        help="Write an HTML and a JSON report of every assert_conflict_free to this folder.",
    )


def pytest_configure(config: pytest.Config) -> None:
    from ptxaudit.ui.assertions import defaults

    defaults.toolchain = config.getoption("--ptxaudit-toolchain")
    defaults.report_folder = config.getoption("--ptxaudit-report")


@pytest.fixture
def conflict_free() -> Callable[..., Any]:
    """`ptxaudit.testing.assert_conflict_free`."""
    from ptxaudit.ui.assertions import assert_conflict_free

    return assert_conflict_free
