"""The figures of small and medium inputs, compared with the vendor's programs on the same file.

A tiny kernel, and thirty kernels under their launches; and the overhead of several processes. The thirty kernels are
those of some samples in one source, each under the launches of its sample.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from bench.figure import Figure
from bench.measure import CHECKOUT, audit, best, cost

ARCH = "sm_90"
THIRTY = (
    "cholesky",
    "scan",
    "stencil",
    "histogram",
    "transpose",
    "layernorm",
    "softmax",
    "kepler_filter",
    "half_vectors",
)
_KERNEL = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(')
_OF_KERNEL = re.compile(r'^kernel = "(.*?)"', re.MULTILINE)
_COMPILED = """\
import sys
from pathlib import Path
from ptxaudit.frontend.compile import nvrtc
made = nvrtc.compile_source(sys.argv[1], arch=sys.argv[2])
Path(sys.argv[1]).with_suffix(".ptx").write_text(made.ptx)
Path(sys.argv[1]).with_suffix(".cubin").write_bytes(made.cubin)
"""


def compiled(source: Path, folder: Path) -> None:
    """Writes the PTX and the machine code of a source beside it."""
    cost([sys.executable, "-c", _COMPILED, str(source), ARCH], folder)


def launches_of(source: str, told: str) -> Iterator[str]:
    """The launches of a launch file, by the names of this source's kernels: its globs could match those of others."""
    for launch in told.split("[[launch]]")[1:]:
        glob = _OF_KERNEL.search(launch)[1]
        for name in filter(lambda name: fnmatchcase(name, glob), _KERNEL.findall(source)):
            yield "[[launch]]" + _OF_KERNEL.sub(f'kernel = "{name}"', launch)


def tiny(folder: Path) -> Iterator[Figure]:
    """A tiny kernel as PTX, the first time and again, and as machine code, compared with the disassembler."""
    from ptxaudit.frontend.compile import toolchains

    source = folder / "tiny.cu"
    source.write_text((CHECKOUT / "samples" / "basic" / "basic.cu").read_text())
    compiled(source, folder)
    told = ["--grid", "1", "--block", "32"]
    cold = best(audit("tiny.ptx", *told), folder)
    cache = ["env", f"XDG_CACHE_HOME={folder / 'kept'}", sys.executable, "-m", "ptxaudit", "audit", "tiny.ptx", *told]
    again = best(cache, folder)
    yield Figure("a tiny PTX file", cold.seconds, 0.25, "s")
    yield Figure("a tiny PTX file, again", again.seconds, 0.12, "s")
    alone = best([toolchains.get("nvdisasm").path, "tiny.cubin"], folder)
    whole = best(audit("tiny.cubin", *told), folder)
    yield _over("a tiny cubin, over nvdisasm", whole.seconds, alone.seconds, 1.4)


def thirty(folder: Path) -> Iterator[Figure]:
    """Thirty kernels under their launches: PTX compared with ptxas, machine code with the disassembler; and divided."""
    from ptxaudit.frontend.compile import toolchains

    source, includes, bodies, launches = folder / "thirty.cu", list[str](), [], []
    for name in THIRTY:
        text = (CHECKOUT / "samples" / name / f"{name}.cu").read_text()
        includes += re.findall(r"^#include.*$", text, re.MULTILINE)
        bodies.append(f"namespace {name}_sample {{\n{re.sub('(?m)^#include.*$', '', text)}\n}}\n")
        launches += launches_of(text, (CHECKOUT / "samples" / name / "launch.toml").read_text())
    source.write_text("\n".join([*dict.fromkeys(includes), *bodies]))
    (folder / "launch.toml").write_text("".join(launches))
    compiled(source, folder)
    assembled = best([toolchains.get("ptxas").path, f"-arch={ARCH}", "thirty.ptx", "-o", "out.cubin"], folder, 2)
    ptx = best(audit("thirty.ptx", "--launch", "launch.toml"), folder, 2)
    count = source.with_suffix(".ptx").read_text().count(".entry")
    size = source.with_suffix(".ptx").stat().st_size / 1000
    yield _over(f"{count} kernels, {size:.0f} kB of PTX, with launches, over ptxas", ptx.seconds, assembled.seconds, 2)
    printed = best([toolchains.get("nvdisasm").path, "-g", "thirty.cubin"], folder, 2)
    code = best(audit("thirty.cubin", "--launch", "launch.toml"), folder, 2)
    yield _over("their machine code, over nvdisasm -g", code.seconds, printed.seconds, 1.7)
    divided = best(audit("thirty.cubin", "--launch", "launch.toml", "--jobs", "2"), folder, 2)
    yield _over("the same by two processes, over one", divided.seconds, code.seconds, 2)


def _over(name: str, measured: float, other: float, goal: float) -> Figure:
    return Figure(name, measured / other, goal, "", f"{measured:.2f} s against {other:.2f} s")
