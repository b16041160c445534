"""`--patch`: what it writes, what it rejects and why, headers and templates that several kernels share."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from msgspec import structs
from reports import kernel, open_site, site
from test_fix import applied, here, repaired  # noqa: F401 (a fixture)

import ptxaudit
from ptxaudit.base.status import Status
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.report.model import Span
from ptxaudit.review.fix import patch as patching
from ptxaudit.review.fix.patch import patch
from ptxaudit.review.fix.run import find_repairs
from ptxaudit.ui.cli import main

LAUNCH = Launch("*", grid=1, block=(32, 32))
BODY = """
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
"""
PLAIN = f'extern "C" __global__ void k(const float* in, float* out) {{\n    __shared__ float tile[32][32];{BODY}}}\n'

REFUSED = {
    "a flat pointer": (
        """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float tile[32][32];
    float* flat = &tile[0][0];
    flat[threadIdx.y * 32 + threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""",
        "accesses other addresses than the repair",
    ),
    "a macro that names it": (
        """
#define TILE(y, x) tile[y][x]
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float tile[32][32];
    TILE(threadIdx.y, threadIdx.x) = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = TILE(threadIdx.x, threadIdx.y);
}
""",
        "tile is used in the macro TILE",
    ),
    "a macro that declares it": (
        f"""
#define DECLARE(name) __shared__ float name[32][32]
extern "C" __global__ void k(const float* in, float* out) {{
    DECLARE(tile);{BODY}}}
""",
        "its declaration was not found in the source",
    ),
    "effects in an index": (
        """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    int at = threadIdx.x * 32 - 1;
    s[++at] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
""",
        "the index ++at may have an effect, and would be written twice",
    ),
    "an index read from it": (
        """
extern "C" __global__ void __launch_bounds__(32) k(const float* in, float* out) {
    __shared__ int s[1024];
    s[threadIdx.x * 32] = threadIdx.x;
    __syncthreads();
    if (in == nullptr) out[0] = s[s[0]];
    out[threadIdx.x] = s[31 - threadIdx.x];
}
""",
        "an index of s is read from it",
    ),
    "a pointer into it": (
        """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    float* p = s + threadIdx.x * 32;
    *p = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
""",
        "uses s without all its indices",
    ),
    "dynamic shared memory": (
        """
extern __shared__ float s[];
extern "C" __global__ void k(const float* in, float* out) {
    s[threadIdx.x * 32] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
""",
        "its declaration was not found in the source",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_source_that_cannot_be_rewritten_is_refused(case, here) -> None:
    source, why = REFUSED[case]
    launch = LAUNCH if "threadIdx.y" in source else Launch("*", grid=1, block=32, dynamic_shared=4096)
    found, made = repaired(source, launch)
    assert found[0].repairs and not made.applied and not made.diff
    assert why in made.refused[0][1], made.refused[0][1]


def test_rows_used_through_a_pointer_may_be_padded(here) -> None:
    """A pointer to a row advances by whole rows, of any length: the compiled code proves it."""
    source = PLAIN.replace(
        "tile[threadIdx.y][threadIdx.x] =", "float* row = tile[threadIdx.y];\n    row[threadIdx.x] ="
    )
    found, made = repaired(source, LAUNCH)
    assert made.applied[0].figure.excess == 0
    assert "// line 3 uses tile without all its indices: rows are longer there as well" in _code(found)
    assert ptxaudit.audit(applied(made.diff, source), launches=[LAUNCH]).kernels[0].totals.excess == 0


def _code(found) -> str:
    from ptxaudit.review.fix.report import code_lines

    return "\n".join(code_lines(found[0], found[0].repairs[0]))


def test_patched_header_is_proved_for_all_including_files(here) -> None:
    (here / "inc").mkdir()
    (here / "src").mkdir()
    header = (
        "#pragma once\n__device__ inline void turn(const float* in, float* out) {\n    __shared__ float"
        f" tile[32][32];{BODY}}}\n"
    )
    (here / "inc" / "turn.cuh").write_text(header)
    for name in "ab":
        (here / "src" / f"{name}.cu").write_text(
            f'#include "../inc/turn.cuh"\nextern "C" __global__ void {name}(const float* in, float* out) {{ turn(in,'
            " out); }\n"
        )
    options = Options(launches=[LAUNCH])
    found, kernels, _ = find_repairs(["src"], options)
    assert [one.repairs[0].also for one in found] == [("it also repairs b",), ("it also repairs a",)]
    made = patch(found, kernels, ["src"], options)
    assert made.diff.startswith("--- a/inc/turn.cuh") and "tile[32][33]" in made.diff
    (here / "fix.diff").write_text(made.diff)
    subprocess.run(["patch", "-p1", "-i", "fix.diff"], check=True, capture_output=True)
    after = ptxaudit.audit(["src/a.cu", "src/b.cu"], launches=[LAUNCH])
    assert [kernel.totals.excess for kernel in after.kernels] == [0, 0]


def test_patch_that_makes_another_kernel_slower_is_refused(here) -> None:
    """Two instances of one declaration: longer rows repair one kernel and make the other slower."""
    source = """
template <int kAcross> __device__ void walk(const float* in, float* out) {
    __shared__ float tile[32][33 - kAcross];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = kAcross ? tile[threadIdx.x][threadIdx.y] : tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void one(const float* in, float* out) { walk<1>(in, out); }
extern "C" __global__ void other(const float* in, float* out) { walk<0>(in, out); }
"""
    found, made = repaired(source, LAUNCH)
    assert [one.examined.entry.name for one in found] == ["one"]
    pad = next(repair for repair in found[0].repairs if repair.code.kind == "pad")
    assert pad.code.declaration == "__shared__ float tile[32][(33 - kAcross) + 1];"
    assert pad.also == (
        "it would cost other 32 more, which the same declaration is of: change it for this kernel only",
    )
    assert not made.applied and "other costs" in made.refused[0][1]


def test_kernel_without_a_proof_is_named(here) -> None:
    source = """
__device__ inline void turn(const float* in, float* out, int at) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + at];
}
extern "C" __global__ void told(const float* in, float* out) { turn(in, out, 0); }
extern "C" __global__ void data(const float* in, float* out, const int* at) { turn(in, out, at[threadIdx.x]); }
"""
    found, _ = repaired(source, Launch("*", grid=1, block=32))
    by_name = {one.examined.entry.name: one for one in found}
    assert by_name["data"].refused
    assert by_name["told"].repairs[0].also[0].startswith("nothing is proved for data, with the same declaration:")


def test_repairs_of_one_file_are_one_diff(here) -> None:
    source = PLAIN + PLAIN.replace(" k(", " again(").replace("tile", "other")
    found, made = repaired(source, LAUNCH)
    assert len(made.applied) == 2 and made.diff.count("+    __shared__") == 2
    after = ptxaudit.audit(applied(made.diff, source), launches=[LAUNCH])
    assert [kernel.totals.excess for kernel in after.kernels] == [0, 0]


def test_fix_command_writes_the_diff_and_its_figures(here) -> None:
    (here / "k.cu").write_text(PLAIN)
    result = CliRunner().invoke(
        main, ["fix", "k.cu", "--grid", "1", "--block", "32,32", "--patch", "k.diff", "--no-config"]
    )
    assert result.exit_code == 0
    assert (
        "patch in k.diff; figures of the changed source, compiled and audited again:\n  k, tile: pad"
        " the row to 33 floats: 64 wavefronts, 0 excess" in result.output
    )
    subprocess.run(["patch", "-p1", "-i", "k.diff"], check=True, capture_output=True)
    assert "__shared__ float tile[32][33];" in (here / "k.cu").read_text()
    refused = CliRunner().invoke(
        main, ["fix", "k.cu", "--grid", "1", "--block", "32,32", "--patch", "no/such/folder.diff", "--no-config"]
    )
    assert refused.exit_code == 0  # there is nothing to repair, so nothing is written


def test_unwritable_patch_file_is_reported(here) -> None:
    (here / "k.cu").write_text(PLAIN)
    result = CliRunner().invoke(
        main, ["fix", "k.cu", "--grid", "1", "--block", "32,32", "--patch", "no/such/folder.diff", "--no-config"]
    )
    assert result.exit_code == 2 and "cannot write this file" in result.stderr


def test_patch_reports_machine_code_figures(here) -> None:
    found, made = repaired(PLAIN, LAUNCH, arch="sm_90")
    (before, _), (after, _) = made.applied[0].machine_code
    assert before - after == found[0].now.low - made.applied[0].figure.low


def test_repair_that_costs_more_in_machine_code_is_refused(here, monkeypatch) -> None:
    """The code that ptxas generates decides: it joins eight consecutive floats into vectors, which a swizzle of floats
    splits.
    """
    monkeypatch.setattr(patching._MachineCode, "_of", lambda self, examined, texts: (100 + len(texts), 50))
    found, made = repaired(PLAIN, LAUNCH)
    assert found[0].repairs and not made.applied and not made.diff
    assert "in machine code 101 instead of 100" in made.refused[0][1]


def test_repairs_are_compared_with_the_source_after_earlier_ones(here, monkeypatch) -> None:
    """A saving by one repair must not hide the cost of the next."""
    source = PLAIN + PLAIN.replace(" k(", " again(").replace("tile", "other")
    compared = []
    cost = lambda kernels: [one.entry.totals.excess for one in kernels]
    monkeypatch.setattr(patching, "_worse", lambda old, new, limit: compared.append((cost(old), cost(new))) or "")
    _, made = repaired(source, LAUNCH)
    assert len(made.applied) == 2 and [sum(before) for before, _ in compared] == [2 * 992, 992]
    assert [sum(after) for _, after in compared] == [992, 0]


def examined(*sites, shared: int = 4096, dynamic: int = 0):
    entry = kernel(*sites)
    launch = Launch("k", grid=1, block=32, dynamic_shared=dynamic)
    return SimpleNamespace(entry=entry, launch=launch, function=SimpleNamespace(shared_static=shared))


COPIES = {"access": "cp.async", "line_class_max": 1, "lines": 8, "lines_ideal": 8}
EACH = {"per_request": Span(1, 4), "ideal_per_request": Span(1, 1), "excess_per_request": Span(0, 3)}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (examined(site(1), site(2)), examined(site(1), site(2)), ""),
        (examined(site(1, wavefronts=64)), examined(site(1)), ""),
        (examined(site(1)), examined(site(1, wavefronts=16)), "costs 16 wavefronts in the changed source, but 8 now"),
        (examined(site(1)), examined(open_site(Status.BOUNDED, 1)), "known less precisely"),
        (
            examined(site(1), site(2), open_site(Status.UNKNOWN, 3)),
            examined(site(1), open_site(Status.BOUNDED, 2), open_site(Status.UNKNOWN, 3)),
            "known less precisely",
        ),
        (
            examined(open_site(Status.BOUNDED, **COPIES)),
            examined(open_site(Status.BOUNDED, **(COPIES | {"lines": 64}))),
            "take 64 steps in the changed source, but 8 now",
        ),
        (
            examined(open_site(Status.INVARIANT, **EACH)),
            examined(open_site(Status.INVARIANT, **(EACH | {"per_request": Span(8, 8)}))),
            "requests of k(float*) cost more",
        ),
        (examined(dynamic=227 * 1024 - 4096), examined(dynamic=227 * 1024 - 4096), ""),
        (
            examined(dynamic=227 * 1024 - 4096),
            examined(shared=4224, dynamic=227 * 1024 - 4096),
            "too much shared memory",
        ),
        (examined(shared=4000), examined(shared=4097), "too much shared memory"),
    ],
)
def test_changes_that_make_a_kernel_worse(before, after, why) -> None:
    limit = 4096 if before.function.shared_static == 4000 else None
    said = patching._worse([before], [after], limit)
    assert why in said and bool(why) is bool(said)


def test_saving_does_not_hide_costs_of_other_arrays() -> None:
    """The array saves 56 wavefronts and another costs 8 more: the kernel as a whole costs less."""
    old, new = examined(site(1, wavefronts=64), site(2)), examined(site(1), site(2, wavefronts=16))
    assert not patching._worse([old], [new], None)
    assert "cost 8 wavefronts more" in patching._worse_elsewhere(old, 56, [old], [new])
    assert not patching._worse_elsewhere(old, 56, [old], [examined(site(1), site(2))])
    assert not patching._worse_elsewhere(old, None, [old], [new])


def test_repairs_of_several_arrays_share_the_memory_limit(here) -> None:
    """Each alone may add its bytes, but not both."""
    body = BODY.replace("tile", "TILE").replace("__syncthreads", "__syncthreads")
    arrays = "".join(f"    __shared__ float t{n}[32][32];{body.replace('TILE', f't{n}')}" for n in range(2))
    source = f'extern "C" __global__ void k(const float* in, float* out) {{\n{arrays}}}\n'
    (here / "k.cu").write_text(source)
    options = Options(launches=[LAUNCH], arch="compute_90")
    found, kernels, _ = find_repairs(["k.cu"], options, limit=8192 + 128)
    pads = [structs.replace(one, repairs=[r for r in one.repairs if r.code.kind == "pad"]) for one in found]
    assert [len(one.repairs) for one in pads] == [1, 1]
    made = patch(pads, kernels, ["k.cu"], options, limit=8192 + 128)
    assert len(made.applied) == 1 and "has too much shared memory" in made.refused[0][1]


def test_macros_without_side_effects_may_be_duplicated(here) -> None:
    source = """
#define AT(row, column) ((row) * 32 + (column))
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    s[AT(threadIdx.y, threadIdx.x)] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[AT(threadIdx.x, threadIdx.y)];
}
"""
    found, made = repaired(source, Launch("k", grid=1, block=(32, 32)))
    assert made.applied[0].figure.excess == 0 and "AT(threadIdx.x, threadIdx.y)) >> 5) & 31)" in made.diff


def test_patch_needs_no_launch(here) -> None:
    """Blocks of some shape are assumed to find how the source names elements."""
    found, made = repaired(PLAIN, None)
    assert made.applied and "tile[32][33]" in made.diff and made.applied[0].figure.excess == 0


def test_code_that_depends_on_the_array_size_is_detected(here) -> None:
    """Accesses are compared; what else is computed from the size is not."""
    for size in ("sizeof(tile)", "sizeof tile", "sizeof(tile[0]) / 4"):
        found, made = repaired(PLAIN.replace("__syncthreads();", f"__syncthreads(); if (!in) *out = {size};"), LAUNCH)
        assert found[0].repairs and not made.diff
        assert "line 4 takes the size of tile, which changes" in made.refused[0][1]
    _, made = repaired(PLAIN.replace("* 32 + threadIdx.x]", "* 8 * sizeof(tile[0][0]) + threadIdx.x]"), LAUNCH)
    assert made.applied[0].figure.excess == 0


def test_address_of_an_element_is_listed(here) -> None:
    source = PLAIN.replace("__syncthreads();", "__syncthreads(); if (!in) *out = *(&tile[1][0] + 1);")
    found, _ = repaired(source, LAUNCH)
    assert "// line 4 takes the address of an element of tile" in _code(found)


BROKEN = {
    "a pointer in code that the launch does not reach": (
        PLAIN.replace("float* out)", "float* out, int n)").replace(
            "\n}",
            "\n    if (n > 64) {\n        float* flat = &tile[0][0];\n        out[threadIdx.x] = flat[threadIdx.x];\n    }\n}",
        ),
        Launch("k", grid=1, block=(32, 32), params=("?", "?", 32)),
        "line 7 uses a pointer into tile, and k does not execute k.cu:8",
    ),
    "a pointer in another kernel, of which nothing is known": (
        "__shared__ float tile[32][32];\n"
        + PLAIN.replace("__shared__ float tile[32][32];", "")
        + """
extern "C" __global__ void other(const int* at, float* out) {
    float* flat = &tile[0][0];
    flat[at[threadIdx.x] & 1023] = 1;
    out[threadIdx.x] = tile[at[threadIdx.x + 32] & 31][at[threadIdx.x] & 31];
}
""",
        LAUNCH,
        "line 10 uses a pointer into tile, and other may access it in k.cu:11",
    ),
    "another variable of its name": (
        """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = in[threadIdx.x];
    __syncthreads();
    float v = s[31 - threadIdx.x];
    { float t[2], s[4]; for (int i = 0; i < 4; ++i) s[i] = t[i & 1] = in[i]; v += s[(int)v & 3] + t[(int)v & 1]; }
    out[threadIdx.x] = v;
}
""",
        Launch("k", grid=1, block=32),
        "line 7 declares another variable s",
    ),
    "a difference of addresses": (
        PLAIN.replace(
            "= tile[threadIdx.x]", "= (float)((char*)&tile[1][0] - (char*)(&tile[0][0])) + tile[threadIdx.x]"
        ),
        LAUNCH,
        "line 5 subtracts addresses in tile, whose difference changes",
    ),
    "a bound that a template deduces": (
        "template <int N, int M> __device__ float cells(float (&t)[N][M]) { return N * M; }\n"
        + PLAIN.replace("= tile[threadIdx.x]", "= cells(tile) * tile[threadIdx.x]"),
        LAUNCH,
        "line 6 passes tile to cells, which computes with its dimensions",
    ),
    "the array's type": (
        PLAIN.replace("threadIdx.x]; }", "").replace(
            "* 32 + threadIdx.x];", "* 32 + threadIdx.x] + sizeof(decltype(tile));"
        ),
        LAUNCH,
        "line 3 takes the size of tile, which changes",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_source_that_the_patch_would_break_is_unchanged(case, here) -> None:
    """Compared requests do not show these: the code is not executed, or the array's layout is used as a number."""
    source, launch, why = BROKEN[case]
    found, made = repaired(source, launch)
    assert found[0].repairs and not made.diff
    assert why in made.refused[0][1], made.refused[0][1]


def test_swizzle_of_an_incomplete_last_row_completes_it(here) -> None:
    """Element 999 of 1,000 moves to 992 ^ 31 and beyond: 1,000 are too few."""
    source = """
#define N 1000
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[N];
    s[threadIdx.x * 31] = in[threadIdx.x];
    s[(threadIdx.x & 31) * 32 % 1000] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[999 - threadIdx.x];
}
"""
    found, made = repaired(source, Launch("k", grid=1, block=32))
    (swizzle,) = [repair for repair in found[0].repairs if repair.code.kind == "swizzle"]
    assert swizzle.code.declaration == "__shared__ float s[N + 24];" and swizzle.bytes == 96
    for repair in found[0].repairs:
        assert repair.compiled


def test_padding_in_unused_elements_states_its_assumption(here) -> None:
    source = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[4096];
    s[threadIdx.x * 32] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x * 32 + 31];
}
"""
    found, _ = repaired(source, Launch("k", grid=1, block=32))
    (pad,) = [repair for repair in found[0].repairs if repair.code.kind == "pad"]
    assert pad.bytes == 0 and "no access goes beyond the first 1024 elements" in pad.proved_for


def test_two_arrays_of_one_line_are_two_changes(here) -> None:
    source = (
        PLAIN.replace("tile[32][32];", "tile[32][32], two[32][32];")
        .replace("__syncthreads();", "two[threadIdx.y][threadIdx.x] = in[threadIdx.x]; __syncthreads();")
        .replace(
            "= tile[threadIdx.x][threadIdx.y];", "= tile[threadIdx.x][threadIdx.y] + two[threadIdx.x][threadIdx.y];"
        )
    )
    found, made = repaired(source, LAUNCH)
    assert "+    __shared__ float tile[32][33], two[32][33];" in made.diff and len(made.applied) == 2


@pytest.mark.parametrize("line", ["\r\n", "\n\f", "\n::"])
def test_diff_preserves_the_bytes_of_lines(line, here) -> None:
    """Carriage returns, form feeds and two colons at the beginning of a line, which `patch` compares byte by byte."""
    text = PLAIN.replace("\n", line) if line == "\r\n" else PLAIN.replace("\n    __sync", line + "__sync")
    (here / "k.cu").write_bytes(text.encode())
    done = CliRunner().invoke(
        main,
        ["fix", "k.cu", "--no-config", "--grid", "1", "--block", "32,32", "--patch", "k.diff"],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    subprocess.run(["patch", "-p1", "-i", "k.diff"], check=True, capture_output=True)
    assert (here / "k.cu").read_bytes() == text.replace("tile[32][32]", "tile[32][33]").encode()


SHUFFLE = """
template <int Size> __global__ void shuffle(const float* in, float* out, int groups) {
    __shared__ float s[Size];
    for (int i = threadIdx.x; i < Size; i += 64) s[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < Size; i += 64) out[i] = s[i % groups * (Size / groups) + i / groups];
}
template __global__ void shuffle<512>(const float*, float*, int);
template __global__ void shuffle<OTHER>(const float*, float*, int);
"""


def test_swizzle_of_a_template_permutes_every_instantiated_size(here) -> None:
    launch = Launch("*", grid=1, block=64, params=("?", "?", 2))
    found, made = repaired(SHUFFLE.replace("OTHER", "32"), launch)
    assert "s[i ^ ((i >> 4) & 16)]" in made.diff and made.applied[0].figure.excess == 0
    found, made = repaired(SHUFFLE.replace("OTHER", "272"), launch)  # element 271 would move to 287
    assert not made.diff and "has the same declaration with other values" in made.refused[0][1]


def test_swizzle_by_the_outermost_index_is_found(here) -> None:
    """Planes of 36 doubles: only the plane's number distinguishes the lanes that collide."""
    source = """
#include "sizes.h"
extern "C" __global__ void k(const double* in, double* out) {
    __shared__ double cube[LENGTH + 2][LENGTH + 2][LENGTH + 2];
    int x = threadIdx.x + 1, y = threadIdx.y + 1, z = threadIdx.z + 1;
    cube[x][y][z] = in[(x * 6 + y) * 6 + z];
    __syncthreads();
    out[(x * 6 + y) * 6 + z] = cube[x - 1][y][z];
}
"""
    (here / "sizes.h").write_text("#define LENGTH 4\n")
    found, made = repaired(source, Launch("k", grid=1, block=(4, 4, 4)))
    assert made.applied[0].figure.excess == 0
    assert "cube[x - 1][y][z ^ ((x - 1) & 1)]" in made.diff
