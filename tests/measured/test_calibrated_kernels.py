"""The kernels of bench/calibrate, audited with their address table specified, against the hardware's counts."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from paths import DATA

import ptxaudit
from bench.calibrate.instructions import INSTRUCTIONS, LANES, TABLE_ROWS, ptx
from bench.calibrate.patterns import WINDOW

RECORDS = json.loads(gzip.decompress((DATA / "calibration_sm90.json.gz").read_bytes()))["requests"]
PAGE = 4096


def chosen() -> dict[str, dict]:
    """A request of each kind of load, store and atomic, with some inactive lanes where there is one."""
    found: dict[str, dict] = {}
    for name, one in INSTRUCTIONS.items():
        if (
            one.kind == "loop"
            or one.kind == "copy"
            or one.off == "guard"
            or one.ptx.startswith(("ldmatrix", "stmatrix", "red"))
        ):
            continue
        same = [r for r in RECORDS if r["ptx"] == one.ptx and r.get("off", "exit") == "exit"]
        if same:
            found[name] = next((r for r in same if r["active"] != 0xFFFF_FFFF), same[len(same) // 2])
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    records = chosen()
    path = tmp_path_factory.mktemp("calibrated") / "requests.ptx"
    path.write_text(ptx("sm_90", records))
    launches = []
    for name, record in records.items():
        table = np.zeros((TABLE_ROWS, LANES), np.uint32)
        table[0] = record["addresses"]
        launches.append(
            ptxaudit.Launch(
                name,
                grid=(1,),
                block=(record.get("threads", LANES),),
                dynamic_shared=WINDOW,
                params=[table, None, np.zeros(PAGE, np.uint8), record["active"]],
            )
        )
    return ptxaudit.audit(str(path), launches=launches, arch="sm_90", isa="ptx")


def test_exact_figures_of_calibration_kernels_equal_the_counters(report):
    records, exact = chosen(), 0
    assert {kernel.name for kernel in report.kernels} == set(records)
    for kernel in report.kernels:
        (site,) = kernel.sites
        counted = records[kernel.name]["wavefronts"]
        if site.status == "exact":
            assert site.wavefronts == counted, kernel.name
            exact += 1
        else:
            assert INSTRUCTIONS[kernel.name].ptx.startswith("atom"), (
                kernel.name,
                site.reason,
            )  # ptxas may combine lanes
            low, high = site.bounds
            assert low <= counted <= high, kernel.name
    assert exact > 60
