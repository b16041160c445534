"""The pytest plugin: options for `ptxaudit.testing.assert_conflict_free`, and the same as a fixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptxaudit", "shared-memory bank conflicts")
    group.addoption(
        "--ptxaudit-toolchain",
        metavar="VERSION",
        help="CUDA release that compiles what assert_conflict_free is given (12.9).",
    )
    group.addoption(
        "--ptxaudit-report", metavar="DIR", help="Keep an HTML and a JSON report of every assert_conflict_free there."
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
