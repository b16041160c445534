"""The figures of outputs made from a report (HTML, SARIF), and of recording."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.figure import Figure
from bench.measure import CHECKOUT, cost
from bench.pipelines import SARIF_RESULTS, made_up

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

PAGE_SITES = 5_000
_RECORDED = """\
import json, time
from cuda.core import Program, ProgramOptions
import ptxaudit
from ptxaudit.ui.recording.inside.recorder import Recorder

source = "template <int N> __global__ void k(float* p) {{ __shared__ float s[1024]; s[threadIdx.x * N] = p[{0}];"
source += " __syncthreads(); for (int i = 0; i < 64; ++i) p[i] += s[threadIdx.x ^ i]; }}"
names = [f"k<{n}>" for n in range(1, 9)]
make = lambda at: Program(source.format(at), "c++", ProgramOptions(arch="sm_90")).compile("cubin", name_expressions=names)
make(0)
guarded, spent = Recorder.guarded, []

def timed(recorder, what, action):
    begun = time.process_time()
    try:
        return guarded(recorder, what, action)
    finally:
        spent.append(time.process_time() - begun)

Recorder.guarded = timed
with ptxaudit.watch() as recording:
    spent.clear()
    begun = time.process_time()
    for at in range(1, 9):
        make(at)
    whole = time.process_time() - begun
assert recording.recording.compiled == 8
print(json.dumps([sum(spent), whole]))
"""


def reports(folder: Path) -> Iterator[Figure]:
    """A page of 5,000 sites with code, requests and repairs, and SARIF of the maximum number of results."""
    from pages import large

    from ptxaudit.ui.render.checked import Checked
    from ptxaudit.ui.render.html import html
    from ptxaudit.ui.render.sarif import sarif

    checked, material = large(PAGE_SITES)
    yield Figure(f"HTML of {PAGE_SITES:,} sites", _least(lambda: html(Checked(checked.report), material)), 2, "s")
    given = made_up(SARIF_RESULTS)
    yield Figure(f"SARIF of {SARIF_RESULTS:,} results", _least(lambda: sarif(Checked(given, str(folder)))), 2, "s")


def _least(action: Callable[[], object], times: int = 3) -> float:
    """The minimum processor time, in seconds."""
    taken = []
    for _ in range(times):
        gc.collect()
        begun = time.process_time()
        action()
        taken.append(time.process_time() - begun)
    return min(taken)


def recording(folder: Path) -> Iterator[Figure]:
    """The time that `watch` adds to compiling modules of eight small kernels; writing happens afterwards."""
    said = folder / "recorded.txt"
    shares = []
    for _ in range(3):
        cost([sys.executable, "-c", _RECORDED], folder, said)
        added, whole = json.loads(said.read_text())
        shares.append(added / (whole - added))
    yield Figure("watch() beside the program's own compiles", min(shares), 0.05, "")
