"""Formulas and conditions use the source's names: threadIdx.y, parameters, arrays, lines of loops, C++'s operators."""

import re

import pytest

import ptxaudit
import samples
from ptxaudit.engine.domain import affine, naming
from ptxaudit.engine.domain.value import Uniform, unknown
from ptxaudit.ir.unknown_words import called, of_unknowns, sources

N = unknown(Uniform("n", key="n"))
M = unknown(Uniform("m", key="m"))
TRIP = unknown(Uniform("trip of k.cu:26", key="trip"))


def name(value):
    ((symbol, _),) = value.terms
    return symbol.name


@pytest.mark.parametrize(
    "operation, sources, said",
    [
        ("and", ("8192*t", "8192"), "(8192*t & 8192)"),
        ("shr.s", ("n + 1", "1"), "(n + 1 >> 1)"),
        ("shl", ("1", "n"), "(1 << n)"),
        ("div.s", ("n + 1", "4*m"), "((n + 1) / (4*m))"),
        ("rem.u", ("n", "m"), "(n % m)"),
        ("setp.ge.s", ("n", "16"), "(n >= 16)"),
        ("setp.ne", ("n", "m"), "(n != m)"),
        ("select", ("n", "m", "(n >= 16)"), "((n >= 16) ? n : m)"),
        ("not", ("(n >= 16)",), "!(n >= 16)"),
        ("min.s", ("n", "m"), "min(n, m)"),
        ("bfe.u", ("n", "4", "8"), "bfe.u(n, 4, 8)"),
    ],
)
def test_operations_are_written_in_cpp(operation, sources, said):
    assert naming.expression(operation, sources) == said


@pytest.mark.parametrize(
    "text, part",
    [
        ("n", "n"),
        ("trip of k.cu:26", "(trip of k.cu:26)"),
        ("(n & 8)", "(n & 8)"),
        ("(n & 8)*(m & 8)", "(n & 8)*(m & 8)".join("()")),
        ("min(n, m)", "min(n, m)"),
        ("4*min(n, m)", "(4*min(n, m))"),
    ],
)
def test_operands_of_lower_precedence_are_parenthesised(text, part):
    assert naming.operand(text) == part


def test_names_of_derived_unknowns():
    assert name(affine.derived("and", (affine.scale(TRIP, TRIP.terms[0][1] * 8), N), 32)) == "(8*(trip of k.cu:26) & n)"
    assert name(affine.multiply(N, M)) == "m*n"
    assert name(affine.multiply(TRIP, N)) == "(trip of k.cu:26)*n"


def test_special_registers_have_cuda_names():
    assert [naming.special(stem, "x") for stem in ("tid", "ntid", "ctaid", "nctaid", "clusterid")] == [
        "threadIdx.x",
        "blockDim.x",
        "blockIdx.x",
        "gridDim.x",
        "%clusterid.x",
    ]
    assert naming.variable("_ZZ4gemmILi8EEvPKfE2As") == "As" and naming.variable("tile") == "tile"


def test_names_in_sentences_are_shortened():
    assert called("n") == "n" and called("trip of k.cu:26") == "the trip of k.cu:26"
    assert called("(n & 8)") == "(n & 8)" and called("n + " * 50 + "m") == "a value computed from n and m"
    assert called("(" * 90) == "(" * 60 + "…"  # nothing that could have a name


def test_formula_with_unnamed_parameters():
    assert called("min(param_0[12:16], 63)") == "min(parameter 0 (bytes 12 to 15), 63)"
    cut = "!((param_0[236:240] != 0) | ((param_0[236:240] == 0) & (n::m[0:4] >= blockIdx.x*%nsmid + wraps)) + … param_0[4:…a01b2c3d"
    assert called(cut) == "a value computed from parameter 0 (bytes 236 to 239), n::m[0:4], blockIdx.x and others"
    halves = "((param_7[4:8] > 0) | ((param_7[4:8] == 0) & (param_7[0:4] >= 100) & (param_7[12:16] < 3)))"
    assert called(halves) == "a value computed from parameter 7 (bytes 0 to 7) and parameter 7 (bytes 12 to 15)"
    window = "(" * 60 + "(%local_window_lo + n) >> 3) + %local_window_hi"
    assert called(window) == "a value computed from the generic address of local memory and n"
    both = [
        unknown(Uniform(name, key=name)).terms[0][0]
        for name in ("param_7[4:8]", "param_7[0:4]", "n[0:4]", "wraps", "n")
    ]
    assert of_unknowns(both) == ["parameter 7 (bytes 0 to 7)", "n"]
    data = "min((hi(" * 9 + "(value loaded at k.cu:3), (trip of loop 2 at k.cu:5)"
    assert called(data) == "a value computed from the value loaded at k.cu:3 and the trip of loop 2 at k.cu:5"


KERNEL = """\
extern "C" __global__ void k(float* out, const int* in, int n, int rows) {
    extern __shared__ float tile[];
    #pragma unroll 1
    for (int i = 0; i < n; ++i)
        tile[threadIdx.y * 64 + threadIdx.x + (i * 5 & 12)] = out[i];
    int offset = 1;
    for (int d = n; d > 0; d >>= 1) {
        __syncthreads();
        tile[offset * threadIdx.x] += 1;
        offset *= 3;
    }
    tile[blockDim.x * 2 + threadIdx.x * 32 + (rows & 6) + in[0]] = 1;
}
"""


def test_formulas_of_a_kernel_use_source_names(tmp_path):
    (tmp_path / "k.cu").write_text(KERNEL)
    sites = ptxaudit.audit(tmp_path / "k.cu").sites
    said = "\n".join({site.formula for site in sites} | {case.when for site in sites for case in site.conditions})
    for words in (
        "tile + ",
        "256*threadIdx.y",
        "(trip of ",
        "k.cu:4) & ",
        "(change at k.cu:10)",
        "the change at k.cu:10 mod ",
        "blockDim.x",
        "(rows & 6)",
        "(value loaded at k.cu:12)",
    ):
        assert words in said, words


LIKE_REGISTERS = re.compile(r"%[rp]d?\d|trip\d|_Z\w|\b(?:and|or|xor|shr|shl|setp)(?:\.\w+)?\(|@\d")


@pytest.mark.parametrize("sample", ["scan", "dynamic_shared", "gemm", "stencil", "spmv", "fft"])
@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_sample_formulas_name_no_register(sample, isa):
    report = ptxaudit.audit(samples.SAMPLES / sample / f"{sample}.cu", isa=isa)
    assert report.sites
    for site in report.sites:
        if not site.formula.startswith("not known"):
            for text in (site.formula, *(case.when for case in site.conditions)):
                assert not LIKE_REGISTERS.search(text), text


def test_sources_of_a_formula_exclude_its_operations():
    formula = "(mulhi.u(param_0[8:12], cvt.rn.f32(threadIdx.x)) + f2i.s(param_1) + tile.size) * bfe.u(n, 4, 8) + more"
    assert sources(formula) == ["parameter 0 (bytes 8 to 11)", "threadIdx.x", "parameter 1", "tile.size", "n", "more"]
