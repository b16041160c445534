"""CHANGELOG.md covers this version, and names only what exists."""

from __future__ import annotations

import re

from paths import ROOT

from ptxaudit.base.version import __version__
from ptxaudit.review.rules import RULES
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.names import NAMES

PAGE = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")  # as keepachangelog.com orders them


def test_newest_version_is_that_of_the_package():
    versions = re.findall(r"^## \[(.+?)\] - (\S+)$", PAGE, re.MULTILINE)
    assert versions and versions[0][0] == __version__
    assert all(date == "unreleased" or re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in versions)
    assert not [date for _, date in versions[1:] if date == "unreleased"]


def test_sections_follow_keep_a_changelog():
    for version in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        found = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert found == [section for section in SECTIONS if section in found]


def test_changelog_names_exactly_the_existing_commands():
    named = set(re.findall(r"`ptxaudit (\w+)", PAGE)) | set(re.findall(r"`(history|bisect)`", PAGE))
    assert named == {*main.list_commands(None)}


def test_changelog_names_all_rules_and_formats():
    assert f"`{min(RULES)}` to `{max(RULES)}`" in PAGE
    formats = re.search(r"^- Formats: (.+?);", PAGE, re.MULTILINE | re.DOTALL)[1].lower()
    assert [name for name in NAMES if name not in formats] == []
