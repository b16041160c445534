"""The machine records: complete, sourced, and the same object each time."""

from __future__ import annotations

import json
import shutil

import pytest

from ptxaudit.engine.ops.operations import UNITS
from ptxaudit.hardware import machines, measured
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.machine_model import Counted, Uncertainty

ALL = [machines.get(name) for name in machines.names()] + [machines.get("banks=12,word=4,threads=32,broadcast=one")]


@pytest.mark.parametrize("machine", ALL, ids=lambda m: m.name)
def test_machine_record_is_complete(machine):
    assert machine.banks > 0 and machine.word > 0 and machine.lanes > 0 and machine.title
    seen = set()
    for rule in machine.rules:
        assert machine.sources[rule.source].text and rule.says
        assert rule.shift % max(rule.widths[-1], 1) == 0
        assert (rule.uncertainty in (Uncertainty.COUNT, Uncertainty.WAYS, Uncertainty.PASSES)) == (
            rule.second is not None
        )
        assert bool(rule.why) == (rule.uncertainty is not Uncertainty.NONE or rule.count.what is Counted.STEPS)
        for width in rule.widths:
            assert (rule.operation, width) not in seen, "two rows for one access"
            seen.add((rule.operation, width))
        count = rule.count
        if count.what is not Counted.LINES:
            assert count.unit * count.slots in (machine.banks * machine.word, count.row)
    for operation, reason in machine.refused.items():
        assert reason
        assert operation in {
            "load",
            "generic load",
            "store",
            "atomic",
            "count",
            "cas",
            "cast",
            "loop",
            "ldmatrix",
            "stmatrix",
            "matrix",
            "cp.async",
            "cp.async.bypass",
        }


def test_scored_opcodes_depend_on_the_architecture():
    def scored(arch, opcode):
        return not machines.get(arch).refusal(classify(opcode))

    copy, load, store = (
        "cp.async.cg.shared.global 16",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16",
    )
    table = {
        "sm_50": "---",
        "sm_70": "---",
        "sm_75": "-l-",
        "sm_80": "cl-",
        "sm_89": "cl-",
        "sm_90": "cls",
        "sm_121a": "cls",
    }
    for arch, has in table.items():
        assert (
            "".join(
                letter if scored(arch, opcode) else "-" for letter, opcode in (("c", copy), ("l", load), ("s", store))
            )
            == has
        ), arch
    assert scored("sm_75", "LDS") and not scored("sm_72", "LDS") and scored("sm_72", "ld.shared.u32")
    assert scored("sm_100a", "LDSM.8.MT1616") and not scored("sm_90a", "LDSM.8.MT1616")


def test_only_measured_opcodes_are_called_measured():
    files = [json.loads(file.read_text()) for file in measured.FOLDER.glob("*.json")]
    named = {machine for file in files for machine in file["machines"]}
    assert {m.name for m in ALL if m.measurements.requests} == named >= {"sm_90", "sm_90a"}
    assert machines.get("sm_90").evidence(classify("ld.shared.f32")) == "measured"
    assert machines.get("sm_90").evidence(classify("ld.shared.s8")) == "measured"
    assert machines.get("sm_90").evidence(classify("ld.f64")) == "measured"
    assert machines.get("sm_90").evidence(classify("atom.shared.min.u32")) == "measured"
    assert machines.get("sm_90").evidence(classify("cp.async.ca.shared.global.L2::128B 16")) == "measured"
    assert (
        machines.get("sm_90").evidence(classify("ld.volatile.v2.u32"))
        == machines.get("sm_90").evidence(classify("ld.s8"))
        == "measured"
    )
    assert (
        machines.get("sm_90").evidence(classify("ld.volatile.s8"))
        == machines.get("sm_90").evidence(classify("LDS.U.32"))
        == "by rule"
    )
    for opcode in machines.get("sm_90").measurements.requests:
        assert machines.get("sm_90").rule(classify(opcode)) is not None


def test_measurement_files_name_existing_machines_and_units():
    assert set(machines.MEASUREMENTS) <= set(machines.names())
    for name, found in machines.MEASUREMENTS.items():
        assert machines.get(name).measurements is found
        assert found.special.unit in UNITS if found.special.measured else not found.special.division_check
        assert set(found.special.measured) <= {
            opcode.removeprefix("mufu.") for opcode in UNITS.get(found.special.unit, ())
        }
        for opcode in found.products:
            assert classify(opcode).access == "wgmma"


def test_machine_has_one_measurement_file(tmp_path):
    for stem in ("sm_90", "another"):
        shutil.copy(measured.FOLDER / "sm_90.json", tmp_path / f"{stem}.json")
    with pytest.raises(ValueError, match="sm_90 has the measurements of H200, too"):
        measured.by_machine(tmp_path)


def test_machine_names_and_aliases():
    assert machines.get("sm_90") is machines.get("SM_90 ") is machines.get("compute_90")
    assert machines.get("sm_20").name == "fermi" and machines.get("sm_13").name == "tesla"
    assert machines.get("banks=4,threads=8").name == "banks=4,word=4,threads=8,broadcast=any"
    assert machines.get("banks=4,threads=8") is machines.get("threads=8, broadcast=any, banks=4")
    for machine in ALL:
        assert machines.get(machine.name) is machine
    with pytest.raises(LookupError):
        machines.get("tesla").invariant_shift(classify("atom.shared.add.u32"))


def test_invariant_shifts_of_opcodes():
    def shift(name, opcode):
        return machines.get(name).invariant_shift(classify(opcode))

    assert [shift("sm_90", o) for o in ("LDS.U8", "LDS", "LDS.64", "LDS.128", "LDSM.16.M88", "LDGSTS.E.64")] == [
        4,
        4,
        8,
        16,
        16,
        8,
    ]
    assert shift("kepler-4byte", "ld.shared.f32") == 256 and shift("kepler-8byte", "ld.shared.f32") == 8
    # a shift by a line moves every lane to the next class, so the largest class keeps its size
    assert shift("sm_90", "LDGSTS.E.BYPASS.128") == 128
    assert machines.get("sm_90").source_shift(classify("LDGSTS.E")) == 128
    assert (
        machines.get("sm_90").source_shift(classify("LDGSTS.E.BYPASS.128"))
        == machines.get("sm_90").source_shift(classify("LDS"))
        == 1
    )


def test_ranges_state_their_reason():
    sm_90 = machines.get("sm_90")
    assert (
        sm_90.why_range(classify("LDS"))
        == sm_90.why_range(classify("atom.shared.exch.b32"))
        == sm_90.why_range(classify("UTMALDG.2D"))
        == ""
    )
    assert "POPC.INC" in sm_90.why_range(classify("red.shared.add.u32")) and "one lane" in sm_90.why_range(
        classify("red.shared.add.u32", 0)
    )
    assert "0xffffffff" in sm_90.why_range(classify("red.shared.inc.u32"))
    assert "source line" in sm_90.why_range(classify("LDGSTS.E")) and "loop" in sm_90.why_range(
        classify("red.shared.add.f32")
    )
