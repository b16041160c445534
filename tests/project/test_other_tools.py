"""The table of other tools in docs/accuracy.md: the measurements of its accesses, and this tool's claims about them."""

from __future__ import annotations

import json

import pytest
from paths import ROOT

from bench.other_tools import __main__ as other_tools

DOCUMENT = json.loads(other_tools.OUTPUT.read_text())
OWN = ("set", "kind", "opcodes", "offsets", "requests", "counted", "profiler", "launch", "ptxaudit")


def test_committed_accesses_equal_measurements_and_current_claims(tmp_path):
    comparisons = other_tools.recorded(tmp_path)
    sets = [tmp_path / name for name in other_tools.SETS]
    for folder in sets:
        folder.mkdir()
    accesses = [one for name, folder in zip(other_tools.SETS, sets) for one in other_tools.of_set(name, folder)]
    accesses += other_tools.of_gluon(comparisons)
    other_tools.by_ptxaudit(accesses, comparisons)
    assert [{key: one[key] for key in OWN} for one in accesses] == [
        {key: one[key] and list(one[key]) if key == "ptxaudit" else one[key] for key in OWN}
        for one in DOCUMENT["accesses"]
    ]


def test_claims_do_not_exceed_the_counter():
    """The counter of one store exceeds what its 64 requests of one lane can take, as the page states."""
    claimed = [one for one in DOCUMENT["accesses"] if one["ptxaudit"] is not None]
    above = [one for one in claimed if not one["ptxaudit"][0] <= one["counted"] <= one["ptxaudit"][1]]
    assert [(one["requests"], one["counted"], one["profiler"]) for one in above] == [([64], 83, 64)]
    assert len(claimed) == len(DOCUMENT["accesses"]) - 1


def test_accuracy_page_names_versions_and_command():
    page = (ROOT / "docs" / "accuracy.md").read_text()
    versions = DOCUMENT["versions"]
    assert f"cuxray {versions['cuxray']}" in page and f"Triton {versions['triton']}" in page
    assert "python -m bench.other_tools --cuxray PYTHON --triton PYTHON" in page


@pytest.mark.parametrize(
    ("opcode", "wavefronts"),
    [("LDS", 1), ("LDS.U8", 1), ("LDS.64", 2), ("STS.128", 4), ("LDSM.16.M88", 1), ("LDSM.16.MT88.4", 4)],
)
def test_least_wavefronts_of_an_instruction(opcode, wavefronts):
    assert other_tools.least(opcode) == wavefronts
