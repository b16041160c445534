"""Times the pipeline's own work: `python -m bench.pipelines [--json]`.

The diff of two reports of 5,000 sites (read, matched, written as text), and SARIF of 25,000 results (rules, folding,
fingerprints, JSON), on synthetic reports with as many source lines.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Input, Kernel, LaunchRecord, Report, Site, Source, Span, Tool
from ptxaudit.report.reader import parse_report
from ptxaudit.review.diff.reports import diff_reports
from ptxaudit.ui.render.changes import diff_text
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.sarif import sarif

DIFF_SITES, SARIF_RESULTS = 5_000, 25_000
SITES_A_KERNEL = 50


def made_up(sites: int, shift: int = 0, wavefronts: int = 64) -> Report:
    """A report with this many exact sites, one per source line, `shift` lines further down."""
    kernels = []
    for start in range(0, sites, SITES_A_KERNEL):
        name = f"kernel_{start // SITES_A_KERNEL}"
        own = tuple(
            _site(name, start + at + shift, start + at, wavefronts) for at in range(min(SITES_A_KERNEL, sites - start))
        )
        launch = LaunchRecord(grid=(8, 1, 1), block=(32, 8, 1))
        kernels.append(Kernel(name, f"{name}(float*)", "ptx", "sm_90", "all.cu", "sm_90", launch, (), (), 4096, own))
    return Report(Tool("ptxaudit", "bench"), (Input("all.cu", "0" * 64, "cuda"),), tuple(kernels), ())


def _site(kernel: str, line: int, number: int, wavefronts: int) -> Site:
    access = "load" if number % 3 else "store"
    cost = Span(wavefronts // 8, wavefronts // 8)
    return Site(
        f"{kernel}@all.cu:{line}:ptx.{access}",
        None,
        line,
        "ld.shared.f32",
        "ld.shared.f32 %f1, [%r1];",
        access,
        4,
        Source("/src/all.cu", line, 5, f"v{number % 997} = s[i + {number}];"),
        Status.EXACT,
        cause="lanes 0 and 1 conflict in one bank",
        requests=8,
        active_requests=8,
        wavefronts=wavefronts,
        ideal=8,
        excess=wavefronts - 8,
        ways=wavefronts // 8,
        per_request=cost,
        ideal_per_request=Span(1, 1),
        excess_per_request=Span(cost.low - 1, cost.high - 1),
    )


def diff_seconds() -> float:
    """Two JSON reports, read, compared and written as text."""
    texts = made_up(DIFF_SITES).to_json(), made_up(DIFF_SITES, shift=7).to_json()
    return _timed(lambda: diff_text(diff_reports(*map(parse_report, texts))))


def sarif_seconds() -> float:
    """One report in memory, written as the text of a log."""
    report = made_up(SARIF_RESULTS)
    return _timed(lambda: sarif(Checked(report, "/src")))


def _timed(work: Callable[[], Any]) -> float:
    """CPU seconds: one thread that waits for nothing, on a machine that may be busy."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    figures = {
        f"diff of two reports of {DIFF_SITES:,} sites": diff_seconds,
        f"SARIF of {SARIF_RESULTS:,} results": sarif_seconds,
    }
    found = {name: round(measure(), 2) for name, measure in figures.items()}
    if parser.parse_args().json:
        print(json.dumps(found))
        return
    for name, seconds in found.items():
        print(f"{name:<40} {seconds:5.2f} s")


if __name__ == "__main__":
    main()
