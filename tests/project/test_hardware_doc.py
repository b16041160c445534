"""docs/hardware.md matches the records; its pictures match the scores."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from paths import ROOT

from bench import hardware_doc
from ptxaudit import score_request
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.unscored import UNSCORED
from ptxaudit.ui.render.svg import LATE, picture

PICTURES = [one for section in hardware_doc.SECTIONS for one in section.pictures]
SVG = "{http://www.w3.org/2000/svg}"


def test_hardware_page_is_current():
    assert hardware_doc.stale() == [], "run make hardware-doc"


def test_hardware_page_has_every_rule_and_reason():
    text = hardware_doc.document()
    for name in ("sm_90", "tesla", "fermi", "kepler-4byte", "kepler-8byte"):
        for rule in machines.get(name).rules:
            assert rule.says in text
    assert all(why in text for why in UNSCORED.values())
    operations = {operation for section in hardware_doc.SECTIONS for operation in section.operations}
    assert operations == {rule.operation for rule in machines.get("sm_90").rules}


def test_every_picture_exists_and_is_linked():
    linked = set(re.findall(r"\]\(hardware/([\w-]+)\.svg\)", hardware_doc.document()))
    assert (
        linked == {one.name for one in PICTURES} == {path.stem for path in (ROOT / "docs" / "hardware").glob("*.svg")}
    )


@pytest.mark.parametrize("one", PICTURES, ids=lambda one: one.name)
def test_picture_has_a_row_per_wavefront_and_every_lane(one):
    score = score_request(
        one.opcode, one.addresses, machine=one.machine, sources=one.sources, in_l1=None if one.sources is None else True
    )
    machine, access = machines.get(one.machine), classify(one.opcode)
    root = ElementTree.fromstring(picture(machine, access, one.addresses, sources=one.sources))
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke")]
    rows = {rect.get("y") for rect in cells}
    assert len(rows) * machine.rule(access).count.factor == score.wavefronts
    late = {rect.get("y") for rect in cells if rect.get("stroke") == LATE}
    assert len(rows) - len(late) == score.ideal


def test_access_without_wavefronts_is_not_drawn():
    with pytest.raises(ValueError, match="no wavefronts"):
        picture(machines.get("sm_90"), classify("cp.async.cg.shared.global 16"), [0] * 32)


def test_inactive_lanes_are_not_drawn():
    svg = picture(
        machines.get("sm_90"), classify("LDS"), [4 * lane for lane in range(32)], [lane < 3 for lane in range(32)]
    )
    assert svg.count("stroke=") == 3
