"""The PTX parser and printer on what compilers really emit: the samples and tests/cuda, through NVRTC.

Of every module: the printed text, and the printed text with every register and label renamed and
every constant respelled, assemble with ptxas to the machine code of the original (`ptx_oracle`);
reading by lines gives the tree that Lark gives of the whole file; and the lifter takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ptx_oracle
import pytest

from ptxaudit.frontend.compile import nvrtc
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module, parse_plain
from samples import load

ROOT = Path(__file__).parent.parent
AT_LEAST = 50


@dataclass(frozen=True)
class Case:
    """One module, of several sources where these have headers in common."""

    sources: tuple[Path, ...]
    arch: str
    options: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(("+".join(path.stem for path in self.sources), self.arch, *self.options, *self.defines))

    def ptx(self) -> str:
        alone = self.sources[0] if len(self.sources) == 1 else None
        text = alone or "".join(f'#include "{path}"\n' for path in self.sources)
        return nvrtc.compile_source(text, self.arch, defines=self.defines, options=self.options).ptx


# (architecture, options): old and new instruction sets, fast mathematics, debug code, relocatable code.
WAYS = (
    ("compute_75", ()),
    ("compute_90", ("-fmad=false",)),
    ("compute_100a", ("-use_fast_math",)),
    ("compute_80", ("-G",)),
)
WIDE = ("-device-int128",)
UNABLE = {
    ("numbers", "compute_75"),
    ("numbers", "compute_80"),  # bf16 operators; 128 bits with -G
    ("copies", "compute_80"),
    ("algorithms", "compute_80"),
}  # unoptimised: minutes of ptxas
LONG = ("algorithms", "copies", "warp")  # NVRTC reads their headers for a second, those of all three for little more
ALGORITHMS = (("double", 64, 3), ("short", 256, 2), ("unsigned long long", 32, 5))


def cases() -> list[Case]:
    found = [Case((path,), load(path.stem).arch) for path in sorted(ROOT.glob("samples/*/*.cu"))]
    for arch, options in WAYS:
        able = [path for path in sorted(ROOT.glob("tests/cuda/*.cu")) if (path.stem, arch) not in UNABLE]
        together = tuple(path for path in able if path.stem in LONG)
        found += [
            Case(sources, arch, options + WIDE) for sources in (together, *((p,) for p in able if p not in together))
        ]
    found += [
        Case(
            (ROOT / "tests/cuda/algorithms.cu",),
            "compute_90",
            (),
            (f"TYPE={kind}", f"THREADS={threads}", f"ITEMS={items}"),
        )
        for kind, threads, items in ALGORITHMS
    ]
    return found


def test_there_are_enough_modules():
    assert len(cases()) >= AT_LEAST


@pytest.mark.parametrize("case", cases(), ids=str)
def test_printed_text_is_the_same_program(case: Case):
    text = case.ptx()
    module = parse_module(text, case.sources[0].name)
    assert module == parse_plain(text)
    assert lift_module(module).kernels()
    ptx_oracle.check(text, options=("--compile-only",) if ".extern .func" in text else ())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("add.u32 %r1,%r2 , 3;", "add.u32\t%r1, %r2, 3 ; // three\n", True),
        ("ld.shared::cta.u32 %r1, [s+4];", "ld.shared :: cta.u32 %r1, [s+4];", False),
        ("a < < b", "a << b", False),
        ('.file 1 "a  b"', '.file 1 "a b"', False),
        ('.file 1 "a//b"', '.file 1 "a//c"', False),
        ("mov.b32 %r1, 0x10;", "mov.b32 %r1, 16;", False),
        ("@@DWARF .byte 1\n.byte 2", "@@DWARF .byte 1 .byte 2\n", False),
    ],
)
def test_texts_with_the_same_tokens_are_the_same_program(one: str, other: str, same: bool):
    assert (ptx_oracle.tokens(one) == ptx_oracle.tokens(other)) is same


@pytest.mark.parametrize("path", sorted(ROOT.glob("tests/ptx/*.ptx")), ids=lambda p: p.stem)
def test_corners_of_the_language(path: Path):
    """PTX written by hand, a corner of the language a file."""
    text = path.read_text()
    module = parse_module(text, path.name)
    assert module == parse_plain(text)
    assert lift_module(module).kernels()
    ptx_oracle.check(text, options=("--compile-only",) if ".extern .func" in text else ())
