"""Reports made by hand, for tests of code that reads them; and their validation against the JSON Schema."""

from __future__ import annotations

import functools
import json

import jsonschema
from msgspec import structs

from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import SCHEMA_FILE, Input, Kernel, LaunchRecord, Report, Site, Source, Span, Tool

LAUNCH = LaunchRecord(grid=(2, 2), block=(32, 8), params=(None, None, 64))


def site(line: int | None = 10, access: str = "load", wavefronts: int = 8, ideal: int = 8, **changes) -> Site:
    """An exact site of 8 requests; `changes` replace its fields."""
    known = {
        "id": f"k@k.cu:{line}:ptx.{access}",
        "offset": None,
        "ptx_line": 100,
        "opcode": "ld.shared.f32" if access == "load" else "st.shared.f32",
        "text": "ld.shared.f32 %f1, [%r1];",
        "access": access,
        "width": 4,
        "source": None if line is None else Source("/src/k.cu", line),
        "status": Status.EXACT,
        "requests": 8,
        "evidence": "measured",
        "active_requests": 8,
        "wavefronts": wavefronts,
        "ideal": ideal,
        "excess": wavefronts - ideal,
        "ways": max(1, wavefronts // 8),
        "per_request": Span(wavefronts // 8, wavefronts // 8),
        "ideal_per_request": Span(ideal // 8, ideal // 8),
        "excess_per_request": Span((wavefronts - ideal) // 8, (wavefronts - ideal) // 8),
    }
    return Site(**(known | changes))


def open_site(status: Status, line: int = 10, **changes) -> Site:
    """A site whose totals are all unknown."""
    nothing = dict.fromkeys(
        (
            "requests",
            "active_requests",
            "wavefronts",
            "ideal",
            "excess",
            "ways",
            "per_request",
            "ideal_per_request",
            "excess_per_request",
        )
    )
    return structs.replace(site(line), **(nothing | {"status": status} | changes))


def kernel(*sites: Site, name: str = "k", **changes) -> Kernel:
    known = {
        "name": name,
        "demangled": f"{name}(float*)",
        "isa": "ptx",
        "arch": "sm_90",
        "input": "k.cu",
        "machine": "sm_90",
        "launch": LAUNCH,
        "assumed": (),
        "notes": (),
        "shared_static": 4096,
        "sites": sites,
    }
    return Kernel(**(known | changes))


def report(*kernels: Kernel, problems=()) -> Report:
    return Report(Tool("ptxaudit", "0"), (Input("k.cu", "0" * 64, "cuda", "nvrtc 13.5"),), kernels, tuple(problems))


@functools.cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA_FILE.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validate(data: dict) -> dict:
    """Checks that `data` is a report by the schema."""
    validator().validate(data)
    return data
