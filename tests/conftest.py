"""Every report that a test writes is held against the JSON Schema."""

from __future__ import annotations

import pytest
from reports import validate

from ptxaudit.report.model import Report


@pytest.fixture(autouse=True)
def nothing_is_taken_from_the_users_cache(monkeypatch):
    monkeypatch.setenv("PTXAUDIT_CACHE", "0")


@pytest.fixture(autouse=True)
def reports_keep_to_the_schema(monkeypatch):
    write = Report.to_dict
    monkeypatch.setattr(Report, "to_dict", lambda report: validate(write(report)))
