"""Reports for tests of the HTML pages, and a headless Chromium to view them."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from reports import kernel, report, site

from ptxaudit.base.status import Status
from ptxaudit.hardware import banks, machines
from ptxaudit.pipeline.code_lines import CodeLine, key_of
from ptxaudit.report.assemble import mask_of
from ptxaudit.report.model import Fix, Frame, Kernel, Moved, Pattern, Report, Seen, Site, Source
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.html import html
from ptxaudit.ui.render.page.material import Material

SITES_A_KERNEL = 20
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
OPCODES = (
    "ld.shared.f32",
    "st.shared.f32",
    "ld.shared.v2.f32",
    "st.shared.v4.f32",
    "atom.shared.add.u32",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
)


def data_of(page: str) -> dict:
    """The JSON from which a page is drawn."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def pattern_of(opcode: str, addresses: np.ndarray, active: np.ndarray, **more) -> Pattern:
    """A request with the figures that `banks` counts for it."""
    scores = banks.score(machines.get("sm_90"), banks.classify(opcode), addresses[None, :], active[None, :])
    low, high, ideal, ways = (int(column[0]) for column in (scores.low, scores.high, scores.ideal, scores.ways))
    known = {"count": 8, "seen": (Seen(0, 0, 255),)}
    return Pattern(
        tuple(np.where(active, addresses, 0).tolist()),
        mask_of(active),
        low=low,
        high=high,
        ideal=ideal,
        ways=ways,
        **known | more,
    )


def random_pattern(opcode: str, rng: np.random.Generator) -> Pattern:
    width = banks.classify(opcode).width
    reach = int(rng.choice([8, 64, 512]))
    addresses = rng.integers(0, reach, 32) * width
    if rng.random() < 0.3:  # pairs that agree, for wide loads
        addresses = np.repeat(addresses[::2], 2)
    whole = opcode.startswith("ldmatrix") or rng.random() < 0.7
    active = np.ones(32, bool) if whole else rng.random(32) < 0.6
    active[int(rng.integers(32))] = True
    return pattern_of(opcode, addresses, active)


def requests_report(count: int = 60) -> Report:
    """A site for each of many random requests."""
    rng = np.random.default_rng(7)
    sites = []
    for at in range(count):
        opcode = OPCODES[at % len(OPCODES)]
        pattern = random_pattern(opcode, rng)
        sites.append(
            site(
                at + 1,
                wavefronts=8 * pattern.low,
                ideal=8 * pattern.ideal,
                id=f"k@k.cu:{at + 1}:ptx.load",
                opcode=opcode,
                patterns=(pattern,),
                distinct=1,
                scored_as=f"{opcode} on sm_90",
                source=Source("k.cu", at + 1, 1, "x = s[i];"),
            )
        )
    return report(kernel(*sites))


def large(sites: int) -> tuple[Checked, Material]:
    """A report of `sites` sites in forty files, with code, requests and repairs, no two of them alike."""
    rnd = random.Random(1)
    files = [f"/src/proj/kernels/file{at}.cuh" for at in range(40)]
    text = "\n".join(
        f"    float v{line} = tile[threadIdx.y][{line} * kPitch + threadIdx.x] + static_cast<float>(w{line});"
        for line in range(1000)
    )
    kernels, codes = [], {}
    for number in range(sites // SITES_A_KERNEL):
        made = _large_kernel(number, files, rnd)
        kernels.append(made)
        codes[key_of(made)] = tuple(
            CodeLine(100 + at, f"ld.shared.f32 %f{at}, [%r{at}+{4 * at}];", rnd.choice(files), rnd.randrange(1, 1000))
            for at in range(250)
        )
    return Checked(report(*kernels)), Material(dict.fromkeys(files, text), codes)


def _large_kernel(number: int, files: list[str], rnd: random.Random) -> Kernel:
    name = f"_ZN7cutlass6KernelI{number:05d}{'x' * 100}EEvT_"
    sites = [_large_site(name, at, number, files, rnd) for at in range(SITES_A_KERNEL)]
    return kernel(
        *sites,
        name=name,
        demangled=f"void cutlass::Kernel<{number}, {'cutlass::gemm::GemmShape<128, 128, 32>, ' * 4}float>(T)",
    )


def _large_site(name: str, at: int, number: int, files: list[str], rnd: random.Random) -> Site:
    line = rnd.randrange(1, 1000)
    patterns = tuple(_large_pattern(rnd) for _ in range(rnd.randrange(1, 9)))
    frames = tuple(
        Frame(rnd.choice(files), rnd.randrange(1, 1000), "void ns::fn<int, 4>(float*)", "call();")
        for _ in range(rnd.randrange(3))
    )
    moved = Moved(patterns[0].addresses, tuple(4 + address for address in patterns[0].addresses), 0xFFFFFFFF, (8, 1))
    fix = (
        Fix(
            "tile",
            "pad the row to 33 floats",
            "__shared__ float tile[32][33];",
            64,
            0,
            128,
            "this launch",
            True,
            (),
            moved,
        )
        if at % 3 == 0
        else None
    )
    made = site(
        line,
        wavefronts=8 * rnd.randrange(1, 33),
        source=Source(rnd.choice(files), line, 3, "y = s[i];", frames),
        id=f"{name}@file.cuh:{line}@x.cu:{at}:ptx.load.{at}",
        ptx_line=100 + 10 * at,
        formula=f"tile + 4*lane + 128*tid.y + {at * number}*trip",
        cause="32 lanes (0-31) conflict in one bank: stride 128 bytes",
        patterns=patterns,
        distinct=12,
        scored_as="ld.shared.f32 on sm_90",
        fix=fix,
    )
    if at % 7:
        return made
    return replace(
        made,
        status=Status.UNKNOWN,
        reason=f"reads parameter n{number % 9}, which is not specified: --param n=…",
        wavefronts=None,
        excess=None,
        ideal=None,
        requests=None,
    )


def _large_pattern(rnd: random.Random) -> Pattern:
    wavefronts = rnd.randrange(1, 9)
    seen = tuple(Seen(trip, trip, rnd.randrange(1, 256)) for trip in range(rnd.randrange(1, 4)))
    return Pattern(
        tuple(rnd.choices(range(0, 1 << 14, 4), k=32)),
        0xFFFFFFFF,
        rnd.randrange(1, 500),
        wavefronts,
        wavefronts,
        1,
        wavefronts,
        seen,
    )


def large_page(sites: int) -> str:
    return html(*large(sites))


# --- a browser ------------------------------------------------------------------------------


def chromium() -> str | None:
    """The path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def axe() -> str:
    """The axe-core script: from the folder in PTXAUDIT_AXE (npm install axe-core), or else the one that comes with
    axe-playwright-python.
    """
    folder = os.environ.get("PTXAUDIT_AXE")
    return (Path(folder) if folder else files("axe_playwright_python")).joinpath("axe.min.js").read_text("utf-8")


@contextmanager
def browser() -> Iterator:
    """A headless Chromium with a fresh profile. Raises LookupError where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise LookupError("playwright is not installed") from None
    path = chromium()
    if path is None:
        raise LookupError("there is no Chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield running
        finally:
            running.close()


class Windows:
    """A browser's windows, one for all pages viewed with the same options: opening one takes as long as axe-core needs
    for a page.
    """

    def __init__(self, running: Any) -> None:
        self.browser = running
        self._open: dict[tuple, Any] = {}

    def page(self, **options: Any) -> Any:
        """The page of the window with these options of a browser context."""
        key = tuple(sorted(options.items()))
        if key not in self._open:
            self._open[key] = self.browser.new_context(**options).new_page()
        return self._open[key]

    def emptied(self, page: Any) -> None:
        """Clears the page, its emulated media and its stored data for the next user."""
        page.evaluate("localStorage.clear()")
        page.emulate_media(media="null", color_scheme="null")
        page.goto("about:blank")

    def closed(self, page: Any) -> None:
        """Closes the window: the next user of its options gets another."""
        self._open = {key: other for key, other in self._open.items() if other is not page}
        page.context.close()
