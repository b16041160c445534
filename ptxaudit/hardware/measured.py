"""Reads measurements, one file per GPU (`measurements/*.json`), into the records that machines refer to.

    by_machine()["sm_90"]   ->  Measurements("H200", requests={"LDS.64": 189, …}, …)

All rules of a machine without a file are *by rule*. `python -m bench.calibrate count` writes the table `requests` of
a file from the data of a GPU's counters; the rest describes the GPU (CONTRIBUTING.md, "A machine generation with
measurements of its own").
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ptxaudit.base import resources
from ptxaudit.hardware.machine_model import Measurements, SpecialFunctions

FOLDER = resources.data("hardware/measurements")


def by_machine(folder: Path = FOLDER) -> dict[str, Measurements]:
    """{machine: its measurements}. Raises ValueError if two files name the same machine."""
    found: dict[str, Measurements] = {}
    for file in sorted(folder.glob("*.json"), key=lambda file: (len(file.stem), file.stem)):
        measurements = read(file)
        for machine in measurements.machines:
            if machine in found:
                raise ValueError(f"{file.name}: {machine} has the measurements of {found[machine].name}, too")
            found[machine] = measurements
    return found


def read(file: Path) -> Measurements:
    """The measurements in one file. Raises ValueError or TypeError if it is invalid."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    special = found.pop("special", {})
    copies = found.pop("copy_cycles", None)
    return Measurements(
        machines=tuple(found.pop("machines")),
        files=tuple(found.pop("files")),
        products=frozenset(found.pop("products", ())),
        uncounted=frozenset(found.pop("uncounted", ())),
        line_cycles=tuple((*row,) for row in found.pop("line_cycles", ())),
        fresh_cycles=tuple((*row,) for row in found.pop("fresh_cycles", ())),
        copy_cycles=None if copies is None else (*copies,),
        special=SpecialFunctions(**special | {"measured": frozenset(special.get("measured", ()))}),
        **found,
    )
