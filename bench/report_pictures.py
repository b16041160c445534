"""Takes the pictures of docs/report.md: pages of samples, in the system's Chromium.

python -m bench.report_pictures [FOLDER]           docs/report/*.webp
"""

from __future__ import annotations

import base64
import sys
import tempfile
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any
from urllib.parse import quote

from click.testing import CliRunner

from ptxaudit.ui.cli import main as ptxaudit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from pages import browser, data_of  # noqa: E402

QUALITY = 82
WIDE, HIGH = 1280, 800

# name of the picture -> sample, view, colours, height; "{worst}" is its costliest site
PICTURES: Mapping[str, tuple[str, str, str, int]] = {
    "overview": ("transpose", "#overview", "light", 640),
    "site": ("bitonic_sort", "{worst}", "light", 900),
    "site-dark": ("bitonic_sort", "{worst}", "dark", 640),
    "source": ("gemm", "#source=gemm/gemm.cu:28", "light", HIGH),
}


def main(folder: Path) -> None:
    """Writes all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as running:
        take(running, folder)


def take(running: Any, folder: Path) -> None:
    """Writes all pictures, with a running browser."""
    with tempfile.TemporaryDirectory() as made:
        pages = {sample: page_of(sample, Path(made)) for sample in sorted({sample for sample, *_ in PICTURES.values()})}
        for name, (sample, view, colours, high) in PICTURES.items():
            context = running.new_context(viewport={"width": WIDE, "height": high}, color_scheme=colours)
            page = context.new_page()
            page.goto(pages[sample].as_uri() + view.format(worst=worst_of(pages[sample])))
            page.wait_for_timeout(400)
            shot = context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            (folder / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))
            context.close()


def page_of(sample: str, folder: Path) -> Path:
    """The HTML report of a sample, in both instruction sets."""
    path = folder / f"{sample}.html"
    words = ["audit", f"{sample}/{sample}.cu", "--launch", f"{sample}/launch.toml", "--isa", "both", "--no-config"]
    with chdir(ROOT / "samples"):
        done = CliRunner().invoke(ptxaudit, [*words, "--format", "html", "-o", str(path)])
    if done.exit_code:
        raise SystemExit(done.output)
    return path


def worst_of(page: Path) -> str:
    """A link to the costliest site in machine code."""
    data = data_of(page.read_text(encoding="utf-8"))
    site = max(
        (one for one in data["sites"] if data["kernels"][one["k"]]["isa"] == "sass"), key=lambda one: one.get("ex", 0)
    )
    return "#site=" + quote(data["kernels"][site["k"]]["name"] + data["texts"][site["i"]], safe="")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "report")
