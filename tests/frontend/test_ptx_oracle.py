"""The PTX parser and printer on the output of compilers: the samples and tests/inputs/cuda, through NVRTC.

The printed text of every module assembles with ptxas to the machine code of the original, also with every register
and label renamed and every constant respelled (`ptx_oracle`); reading by lines gives the same tree as Lark gives for
the whole file; and the lifter accepts the module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ptx_oracle
import pytest
from paths import INPUTS, SAMPLES

from ptxaudit.frontend.compile import nvrtc
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module, parse_plain
from samples import load

AT_LEAST = 50


@dataclass(frozen=True)
class Case:
    """One module, from several sources if these share headers. macros: those of each source."""

    sources: tuple[Path, ...]
    arch: str
    options: tuple[str, ...] = ()
    macros: tuple[dict[str, object], ...] = ()

    def __str__(self) -> str:
        names = "+".join(dict.fromkeys(path.stem for path in self.sources))
        return " ".join((names, self.arch, *self.options, *(str(macros["TYPE"]) for macros in self.macros)))

    def ptx(self) -> str:
        text = self.sources[0] if len(self.sources) == 1 else "".join(self._parts())
        return nvrtc.compile_source(text, self.arch, options=self.options).ptx

    def _parts(self) -> Iterator[str]:
        for path, macros in zip(self.sources, self.macros or ({},) * len(self.sources), strict=True):
            yield from (f"#undef {name}\n#define {name} {value}\n" for name, value in macros.items())
            yield f'#include "{path}"\n'


# (architecture, options): old and new instruction sets, fast mathematics, debug code.
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
}  # unoptimised: ptxas takes minutes
LONG = ("algorithms", "copies", "warp")  # NVRTC takes a second for the headers of each, and little more for all three
ALGORITHMS = (("double", 64, 3), ("short", 256, 2), ("unsigned long long", 32, 5))
NAMES = ("Less", "radix_sort", "merge_sort", "scan_and_reduce", "histogram")  # in algorithms.cu


def macros(at: int) -> dict[str, object]:
    """Macros for the at-th copy of algorithms.cu: its kernels have other names from the second copy on."""
    kind, threads, items = ALGORITHMS[at]
    return {"TYPE": kind, "THREADS": threads, "ITEMS": items} | {name: f"{name}_{at}" for name in NAMES if at}


def cases() -> list[Case]:
    found = [Case((path,), load(path.stem).arch) for path in sorted(SAMPLES.glob("*/*.cu"))]
    for arch, options in WAYS:
        able = [path for path in sorted(INPUTS.glob("cuda/*.cu")) if (path.stem, arch) not in UNABLE]
        together = tuple(path for path in able if path.stem in LONG)
        found += [
            Case(sources, arch, options + WIDE) for sources in (together, *((p,) for p in able if p not in together))
        ]
    times = range(len(ALGORITHMS))
    algorithms = INPUTS / "cuda/algorithms.cu"
    found.append(Case((algorithms,) * len(times), "compute_90", (), tuple(map(macros, times))))
    return found


def test_oracle_has_enough_modules():
    assert len(cases()) >= AT_LEAST


@pytest.mark.parametrize("case", cases(), ids=str)
def test_printed_ptx_assembles_to_the_same_machine_code(case: Case):
    text = case.ptx()
    module = parse_module(text, case.sources[0].name)
    assert module == parse_plain(text)
    assert lift_module(module).kernels()
    ptx_oracle.check(text, module, options=("--compile-only",) if ".extern .func" in text else ())


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
def test_ptx_texts_are_compared_by_tokens(one: str, other: str, same: bool):
    assert (ptx_oracle.tokens(one) == ptx_oracle.tokens(other)) is same


@pytest.mark.parametrize("path", sorted(INPUTS.glob("ptx/*.ptx")), ids=lambda p: p.stem)
def test_handwritten_ptx_of_rare_constructs_is_printed_correctly(path: Path):
    """PTX written by hand, one corner of the language per file."""
    text = path.read_text()
    module = parse_module(text, path.name)
    assert module == parse_plain(text)
    assert lift_module(module).kernels()
    ptx_oracle.check(text, module, options=("--compile-only",) if ".extern .func" in text else ())
