"""The modules that a command imports: libraries that take longer to load than a small kernel to analyse are loaded only
where they are needed.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from paths import SAMPLES

LOOPS = SAMPLES / "radix_sort"  # loops, shared counters, lanes that reconverge


def imported(*arguments: str) -> set[str]:
    """The modules loaded at the end of a command with an empty cache."""
    code = (
        "import sys; from ptxaudit.ui.cli import main\ntry: main()\n"
        "finally: print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_loops_and_divergence_need_no_graph_library(isa):
    launch = str(LOOPS / "launch.toml")
    found = imported("audit", str(LOOPS / "radix_sort.cu"), "--isa", isa, "--launch", launch, "--no-cache")
    assert "ptxaudit.engine.exec.simulate" in found  # the kernel was executed
    assert not found & {"networkx", "numpy.ma", "sqlite3", "rich", "jinja2", "ptxaudit.review.fingerprint"}
    assert ("elftools" in found) == (isa == "sass")


def test_release_comparison_needs_no_graph_library():
    both = ("--arch", "sm_80", "--arch", "sm_90", "--toolchain", "13")
    found = imported("diff", str(LOOPS / "radix_sort.cu"), *both, "--no-cache")
    assert "ptxaudit.engine.fixpoint.infer" in found
    assert not found & {"networkx", "numpy.ma", "sqlite3", "rich", "jinja2", "ptxaudit.review.fingerprint"}


def test_slice_picture_imports_networkx():
    source = str(SAMPLES / "transpose" / "transpose.cu")
    site = "transpose.cu:9"
    found = imported("explain", source, site, "--block", "32", "--show", "graph")
    assert "networkx" in found
