"""Figures do not depend on names: of parameters, variables, registers, labels or functions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest
from machine_code import PROLOGUE
from paths import ROOT
from renamed import WORDS, names, renamed
from twin import generate

import ptxaudit
from ptxaudit.engine.domain import naming
from ptxaudit.engine.domain.value import Uniform
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.matching import match

FIGURES = (
    "status",
    "requests",
    "active_requests",
    "wavefronts",
    "ideal",
    "excess",
    "ways",
    "bounds",
    "per_request",
    "ideal_per_request",
    "line_class_max",
    "lines",
    "lines_ideal",
    "evidence",
)


def figures(content, isa: str, launches=(), **options):
    """All figures of a module: one list per kernel and launch, in the order of the code."""
    report = ptxaudit.audit(content, isa=isa, launches=tuple(launches), **options)
    assert not report.problems, report.problems
    return [
        [
            tuple(getattr(site, name) for name in FIGURES) + tuple((c.low, c.high, c.ideal) for c in site.conditions)
            for site in kernel.sites
        ]
        for kernel in report.kernels
    ]


@cache
def code_of(ptx: str, options: tuple[str, ...]) -> bytes:
    return assemble(ptx, "sm_90", options).cubin


def same_under_other_names(ptx: str, seed: int, launches=(), isas=("ptx", "sass"), options=()) -> None:
    other, new = renamed(ptx, Random(seed))
    assert all(name not in new or new[name] != name for name in new) and len(names(other)) == len(names(ptx))
    moved = [
        replace(
            launch,
            kernel=new.get(launch.kernel, launch.kernel),
            named={new.get(key, key): value for key, value in launch.named.items()},
            symbols={new.get(key, key): value for key, value in launch.symbols.items()},
        )
        for launch in launches
    ]
    for isa in isas:
        both = [(ptx, launches), (other, moved)]
        if isa == "sass":
            both = [(code_of(text, tuple(options)), told) for text, told in both]
        before, after = (sorted(figures(content, isa, told), key=repr) for content, told in both)
        assert before == after


SAMPLES = (
    "atomics",
    "bitonic_sort",
    "cluster",
    "device_calls",
    "dynamic_shared",
    "histogram",
    "index_table",
    "lookup_table",
    "merge",
    "pipeline",
    "producer_consumer",
    "reduction",
    "ring_buffer",
    "softmax",
    "spmv",
    "struct_params",
    "transpose",
)


@pytest.mark.parametrize("name", [name for name in SAMPLES if (ROOT / "samples" / name).is_dir()])
@pytest.mark.parametrize("told", (True, False))
def test_renaming_changes_no_figure_of_samples(name, told):
    source = ROOT / "samples" / name / f"{name}.cu"
    ptx = compile_source(source, arch="sm_90").ptx
    kernels = list(names(ptx))
    told_launches = []
    for launch in ptxaudit.read_launches(source.with_name("launch.toml")) if told else ():
        told_launches += [
            replace(launch, kernel=kernel)
            for kernel in kernels
            if f".entry {kernel}(" in ptx and match((launch,), kernel)
        ]
    same_under_other_names(ptx, len(name), told_launches)


@pytest.mark.parametrize("seed", range(12))
def test_renaming_changes_no_figure_of_random_kernels(seed):
    """PTX, with nothing specified and with everything specified."""
    kernel = generate.kernel(9100 + seed)
    launch = ptxaudit.Launch(
        kernel.name,
        grid=kernel.grid,
        block=kernel.block,
        params=list(kernel.params),
        dynamic_shared=kernel.dynamic,
        cluster=kernel.cluster,
    )
    for launches in ([], [launch]):
        same_under_other_names(kernel.text, seed, launches, isas=("ptx",))


GENERIC = """.visible .func (.reg .b32 %r) {f}(.reg .b64 {p}, .reg .b32 %i) {{ .reg .b64 %q; .shared .align 4 .b8 {own}[256]; .reg .b32 %s;
 mul.wide.u32 %q, %i, 8; add.u64 %q, {p}, %q; ld.u32 %r, [%q]; mov.u32 %s, {own}; mad.lo.u32 %s, %i, 4, %s; st.shared.u32 [%s], %r; ret; }}
.visible .entry k(.param .u64 {a}, .param .u64 {b}, .param .u32 {n})
{{ .reg .b64 %rd<6>; .reg .b32 {r}<9>; .reg .pred {z}; .shared .align 4 .b8 {s}[1024];
 ld.param.u64 %rd1, [{a}]; ld.param.u64 %rd2, [{b}]; ld.param.u32 {r}1, [{n}]; mov.u32 {r}2, %tid.x; mov.u32 {r}3, {s}; cvt.u64.u32 %rd3, {r}3; cvta.shared.u64 %rd3, %rd3;
 setp.gt.u32 {z}, {r}1, 3; selp.b64 %rd4, %rd3, %rd1, {z};
 call (%r_out), {f}, (%rd4, {r}2); call (%r_out), {f}, (%rd2, {r}2); call (%r_out), {f}, (%rd3, {r}2);
 mul.lo.u32 {r}5, {r}2, {r}1; shl.b32 {r}5, {r}5, 2; add.u32 {r}5, {r}5, {r}3; @{z} bra {l}; st.shared.u32 [{r}5], {r}2; {l}: ld.shared.u32 {r}6, [{r}5];
 st.global.u32 [%rd2], {r}6; ret; }}
""".replace("{{ .reg .b64 %rd<6>;", "{{ .reg .b32 %r_out; .reg .b64 %rd<6>;")
PLAIN = {"f": "f", "p": "%p", "own": "own", "a": "a", "b": "b", "n": "n", "r": "%r", "z": "%z", "s": "s", "l": "L"}
ADVERSE = [
    PLAIN | {"a": "my_shared_window", "b": "shared_window_hi"},
    PLAIN | {"n": "ctaid_x", "s": "shared_window"},
    PLAIN | {"s": "tid", "own": "local_window"},
    PLAIN | {"f": "loaded", "a": "trip1", "b": "hi", "n": "k"},
    PLAIN | {"r": "%cc", "z": "%t1"},
    PLAIN | {"r": "%t", "p": "%laneid_", "l": "budget"},
    PLAIN | {"a": "x_param_7", "b": "param", "n": "wraps"},
    PLAIN | {"s": "a0", "own": "a0", "l": "s"},
    PLAIN | {"f": "k_", "s": "k_s", "own": "k_s_"},
]


@pytest.mark.parametrize(
    "words", ADVERSE, ids=lambda words: ",".join(value for key, value in words.items() if PLAIN[key] != value)
)
@pytest.mark.parametrize("told", (True, False))
def test_names_equal_to_internal_names_change_no_figure(words, told):
    launches = [ptxaudit.Launch("k", grid=(2,), block=(64,), params=[None, 0x7F00_0000_0000, 5])] if told else []
    for isa in ("ptx", "sass"):
        texts = [PROLOGUE.format(arch="sm_90") + GENERIC.format(**chosen) for chosen in (PLAIN, words)]
        contents = [assemble(text, "sm_90").cubin for text in texts] if isa == "sass" else texts
        before, after = (figures(content, isa, launches) for content in contents)
        assert before == after and before[0]


CARRY = """.visible .entry k() {{ .reg .b32 %x, %c, %d, {cc}, {t}; .shared .b8 s[1024]; mov.u32 %x, %tid.x; mov.u32 {cc}, 4; mov.u32 {t}, 4; add.cc.u32 %c, %x, -1;
 addc.u32 %d, 0, 0; mul24.lo.u32 %d, {t}, %x; mad.lo.u32 %c, %x, {cc}, 0; sub.u32 %d, %d, %c; mad.lo.u32 %d, {t}, %x, %d; mov.u32 %c, s; add.u32 %d, %d, %c;
 st.shared.u32 [%d], %x; ret; }}
"""


@pytest.mark.parametrize("cc", ("%cc", "%t1", "%t2", "%wmma0", "%p", "t0"))
def test_register_names_equal_to_lifter_temporaries_change_no_figure(cc):
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,))
    for chosen in ({"cc": cc, "t": "%u"}, {"cc": "%u", "t": cc}):
        ((site,),) = figures(PROLOGUE.format(arch="sm_90") + CARRY.format(**chosen), "ptx", [launch])
        assert (site[0], site[3]) == ("exact", 1)


def test_renaming_changes_no_figure_of_relocatable_objects():
    """Several functions have shared variables of the same name, and functions have the names of variables."""
    same_under_other_names(PROLOGUE.format(arch="sm_90") + GENERIC.format(**PLAIN), 5, isas=("sass",), options=("-c",))
    same_under_other_names(
        PROLOGUE.format(arch="sm_90") + GENERIC.format(**(PLAIN | {"own": "s"})),
        6,
        isas=("ptx", "sass"),
        options=("-c",),
    )


def test_unknowns_are_equal_by_key_not_by_name():
    one, other = Uniform("n", key=("a", 1)), Uniform("shared_window_hi", key=("a", 1))
    assert one == other and hash(one) == hash(other) and one.identity == other.identity
    assert one != Uniform("n", key=("a", 2)) and one.identity != Uniform("n", key=("a", 2)).identity
    assert len({Uniform(word, key=("a", 1)) for word in WORDS}) == 1
    with pytest.raises(TypeError):
        Uniform("n")


TWICE = """.visible .entry k() { .reg .b32 %x, %s, %y; .shared .b8 s[4096]; mov.u32 %x, %tid.x; mov.u32 %s, s;
 { .reg .b32 %a; mad.lo.u32 %a, %x, 4, %s; st.shared.u32 [%a], %x; } { .reg .b32 %a; mad.lo.u32 %a, %x, 128, %s; st.shared.u32 [%a], %x; }
 ret; }
"""


@pytest.mark.parametrize("lines", (True, False))
def test_equal_instructions_on_one_line_are_separate_sites(lines):
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,))
    body = TWICE if lines else TWICE.replace("\n", " ") + "\n"
    (found,) = figures(PROLOGUE.format(arch="sm_90") + body, "ptx", [launch])
    assert [(site[0], site[1], site[3]) for site in found] == [("exact", 1, 1), ("exact", 1, 32)]
    (found,) = figures(PROLOGUE.format(arch="sm_90") + body.replace(")", ") .reqntid 32, 1, 1", 1), "ptx")
    assert [site[8] for site in found] == [ptxaudit.report.model.Span(1, 1), ptxaudit.report.model.Span(32, 32)]


@pytest.mark.parametrize(
    "operation, sources, text",
    [
        ("fsetp.neu", ("beta", "0"), "(beta != 0)"),
        ("fsetp.lt", ("beta", "n"), "(beta < n)"),
        ("fsetp.gt", ("beta", "1065353216"), "fsetp.gt(beta, 1065353216)"),
        ("fsetp.nan", ("beta", "beta"), "fsetp.nan(beta, beta)"),
    ],
)
def test_float_comparison_is_written_as_an_expression(operation, sources, text):
    assert naming.expression(operation, sources) == text
