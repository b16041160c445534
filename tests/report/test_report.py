"""The report's JSON: valid by its strict schema, and equal when read back."""

from __future__ import annotations

import contextlib
import functools
import json
import random

import jsonschema
import pytest
from msgspec import structs
from reports import LAUNCH, kernel, open_site, report, site, validate, validator

from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import Status
from ptxaudit.report import model as records
from ptxaudit.report.model import Condition, Frame, Problem, Report, Source, Span, Trip
from ptxaudit.report.reader import parse_report, read_report


def full_report() -> Report:
    """A report in which every field of every record is filled at least once."""
    source = Source("/src/k.cu", 3, 5, "x = s[i];", (Frame("/src/k.cu", 9, "load(int)", "load(i);"),))
    sites = (
        site(
            3,
            wavefronts=64,
            source=source,
            cause="lanes 0 and 1 meet",
            trips=(Trip(1, 2, 1), Trip(1, 1, 1)),
            formula="4*lane",
        ),
        open_site(
            Status.CONDITIONAL,
            conditions=(Condition("n mod 32 = 0", 32, 32, 1), Condition("otherwise", 1, 2)),
            reason="n",
        ),
        open_site(Status.BOUNDED, bounds=(8, 16), per_request=Span(1, 2), evidence="by rule"),
        open_site(
            Status.BOUNDED, access="cp.async", line_class_max=2, lines=16, lines_ideal=8, offset=0x40, ptx_line=None
        ),
        open_site(Status.UNREACHED, requests=0),
        open_site(Status.UNKNOWN, reason="tex.2d", width=None, pairs_with="k@k.cu:3:sass.load"),
    )
    return report(
        kernel(*sites, assumed=("lanes are 32 consecutive threadIdx.x",), notes=("n",)),
        kernel(name="no_launch", launch=None),
        problems=[Problem("it does not compile", "fix it", "b.cu", 3, 4, None, "log\nlog")],
    )


def test_json_is_valid_and_reads_back_equal():
    written = full_report()
    validate(json.loads(written.to_json()))
    assert parse_report(written.to_json()) == written
    assert Report.from_dict(written.to_dict()) == written


@pytest.mark.parametrize(
    "record, definition",
    [
        ("Site", "site"),
        ("Source", "source"),
        ("Frame", "frame"),
        ("Input", "input"),
        ("Problem", "problem"),
        ("LaunchRecord", "launch"),
        ("Totals", "totals"),
        ("Span", "span"),
    ],
)
def test_schema_requires_every_field(record, definition):
    fields = [field.name for field in structs.fields(getattr(records, record))]
    schema = validator().schema["$defs"][definition]
    assert sorted(schema["properties"]) == sorted(schema["required"]) == sorted(fields)
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "change",
    [
        {"status": "surely"},
        {"wavefronts": -1},
        {"wavefronts": 1.5},
        {"bounds": [1]},
        {"colour": "red"},
        {"evidence": "hearsay"},
    ],
)
def test_schema_rejects_other_values(change):
    data = full_report().to_dict()
    data["kernels"][0]["sites"][0].update(change)
    with pytest.raises(jsonschema.ValidationError):
        validate(data)


def test_totals_are_sums_over_settled_sites_only():
    totals = kernel(
        site(1, wavefronts=16), site(2), open_site(Status.UNKNOWN), open_site(Status.UNREACHED, requests=0)
    ).totals
    assert (totals.sites, totals.complete) == (4, False)
    assert (totals.requests, totals.wavefronts, totals.ideal, totals.excess, totals.ways) == (16, 24, 16, 8, 2)
    assert totals.status == {"exact": 2, "unknown": 1, "unreached": 1}
    assert kernel(site(1), open_site(Status.UNREACHED)).totals.complete


def test_launch_is_one_line_of_text():
    assert str(LAUNCH) == "grid 2×2, block 32×8"
    assert str(structs.replace(LAUNCH, cluster=(2, 1, 1), grid=None)) == "block 32×8, cluster 2"


TEXT = full_report().to_json()


@pytest.mark.parametrize(
    "text, what, line",
    [
        (TEXT[: len(TEXT) // 2], "ends in the middle", True),
        (TEXT[: TEXT.index('"kernels"') + 5], "ends in the middle", True),
        ("", "ends in the middle", True),
        ("not json", "not JSON", True),
        ("[1, 2]", "not a ptxaudit report", False),
        ('{"schema": "ptxaudit/report/9"}', 'has schema "ptxaudit/report/9"', False),
        ('{"schema": "ptxaudit/report/1"}', "does not match its schema: there is no 'tool'", False),
        (TEXT.replace('"status": "exact"', '"status": "surely"', 1), "does not match its schema", False),
        (TEXT.replace('"wavefronts": 64', '"wavefronts": "64"', 1), "wavefronts", False),
        (TEXT.replace('"requests": 8', '"asks": 8', 1), "does not match its schema", False),
        ("[" * 100_000, "nested too deeply", False),
    ],
)
def test_file_that_is_no_report_is_rejected(tmp_path, text, what, line):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_report(path)
    assert what in caught.value.what
    assert caught.value.file == str(path) and caught.value.hint
    assert (caught.value.line is not None) == line


def test_missing_or_binary_report_is_rejected(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_report(tmp_path / "none.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(InputError, match="not UTF-8"):
        read_report(tmp_path / "b.json")


# --- damaged in one place -------------------------------------------------------------------

VALUES = (None, -1, 1.5, "x", "", [], {}, [1], {"a": 1}, True, 10**30, [None], [[1]])


def places(value, path=()):
    """The path of every value in a JSON document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def damaged(document, rng):
    """The document with one value removed or replaced."""
    document = json.loads(json.dumps(document))
    *path, last = rng.choice([place for place in places(document) if place])
    holder = functools.reduce(lambda value, key: value[key], path, document)
    if rng.random() < 0.3 and isinstance(holder, dict):
        del holder[last]
    else:
        holder[last] = rng.choice(VALUES)
    return document


@pytest.mark.parametrize("seed", range(60))
def test_damaged_report_or_baseline_causes_no_internal_error(seed, tmp_path):
    from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline
    from ptxaudit.review.diff.reports import diff_reports
    from ptxaudit.review.gate import judge, parse_limit
    from ptxaudit.ui.render.changes import diff_markdown, diff_text

    rng = random.Random(seed)
    good = full_report()
    file = tmp_path / "r.json"
    for _ in range(3):
        file.write_text(json.dumps(damaged(json.loads(good.to_json()), rng)))
        with contextlib.suppress(InputError):
            for diff in (diff_reports(good, read_report(file)), diff_reports(read_report(file), good)):
                assert diff_text(diff, True) and diff_markdown(diff) and diff.to_dict()
        file.write_text(json.dumps(damaged(json.loads(baseline_json(good)), rng)))
        with contextlib.suppress(InputError):
            ratchet = Ratchet.of(read_baseline(file), good)
            ratchet.stale()
            judge(
                good,
                [parse_limit(limit) for limit in ("excess=1", "total-excess=1", "PA001", "PA009")],
                ratchet=ratchet,
            )
            judge(good, [], ratchet=ratchet)


def test_streamed_json_equals_json_dumps():
    for given in (full_report(), report()):
        for indent in (2, None, 1):
            assert given.to_json(indent) == json.dumps(given.to_dict(), indent=indent, ensure_ascii=False) + "\n"
