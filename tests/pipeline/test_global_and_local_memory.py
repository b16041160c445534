"""Accesses to global and local memory.

Which memory a site belongs to, what a request moves, and what a report states about it.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from reports import validate

import ptxaudit
import samples
from ptxaudit.base.errors import InputError
from ptxaudit.base.status import Status
from ptxaudit.engine.answer import residues
from ptxaudit.engine.exec.repeat import Repeats
from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.memory import opcodes, sectors
from ptxaudit.report.reader import parse_report
from ptxaudit.review import gate
from ptxaudit.review.compare import Verdict, compare
from ptxaudit.review.ncu_csv import parse_export
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.names import NAMES

SM_90 = machines.get("sm_90")
LANES = np.arange(32)
ALIGNED = {"*": 256}

KERNEL = """
extern "C" __global__ void k(const float* in, float* out, int n, int s) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i * s];
    __syncthreads();
    if (i < n) out[i + 1] = tile[threadIdx.x ^ 1];
}
"""


def score(opcode: str, space: str, addresses, active=None, others=None):
    addresses = np.atleast_2d(np.asarray(addresses, np.int64))
    active = np.ones(addresses.shape, bool) if active is None else np.atleast_2d(active)
    return banks.score(
        SM_90, opcodes.classify(opcode, space), addresses, active, None if others is None else np.atleast_2d(others)
    )


def audited(text: str, space: str, isa: str = "ptx", assume=ALIGNED, **launch):
    launches = [ptxaudit.Launch("k", **launch)] if launch else ()
    report = ptxaudit.audit(text, space=space, isa=isa, assume=assume, launches=launches)
    assert not report.problems
    return report


# --- one request ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opcode, space, addresses, sectors, ideal, lines",
    [
        ("LDG.E", "global", 4 * LANES, 4, 4, 1),
        ("LDG.E", "global", 4 * LANES + 4, 5, 4, 2),
        ("LDG.E", "global", 32 * LANES, 32, 4, 8),
        ("LDG.E", "global", 0 * LANES, 1, 1, 1),
        ("LDG.E.128.CONSTANT", "global", 16 * LANES, 16, 16, 4),
        ("ld.global.nc.v4.f32", "global", 16 * LANES + 16, 17, 16, 5),
        ("STG.E.U8", "global", LANES, 1, 1, 1),
        ("LDL", "local", 0 * LANES, 4, 4, 1),
        ("LDL.128", "local", 0 * LANES, 16, 16, 4),
        ("LDL", "local", 4 * LANES, 32, 4, 32),
        ("STL.U8", "local", LANES // 8 * 4, 4, 4, 4),
    ],
)
def test_sectors_and_lines_of_a_request(opcode, space, addresses, sectors, ideal, lines):
    found = score(opcode, space, addresses)
    assert (found.low[0], found.high[0], found.ideal[0], found.lines[0]) == (sectors, sectors, ideal, lines)


def test_sectors_equal_a_loop_over_lanes():
    random = np.random.default_rng(7)
    for width in (1, 2, 4, 8, 16):
        addresses = random.integers(0, 64, (200, 32)) * width
        active = random.random((200, 32)) < 0.6
        active[:, 0] = True
        found = score(f"ld.global.b{8 * width}", "global", addresses, active)
        for row in range(200):
            some = addresses[row][active[row]].tolist()
            sectors = {byte // 32 for address in some for byte in range(address, address + width)}
            assert found.low[row] == len(sectors)
            assert found.lines[row] == len(
                {byte // 128 for address in some for byte in range(address, address + width)}
            )
            assert found.ideal[row] == min(len(sectors), -(-len(some) * width // 32))


@pytest.mark.parametrize("opcode", ["ld.global.b8", "ld.global.b32", "ld.global.v4.b32", "red.global.add.u32"])
def test_shifted_requests_are_scored_at_their_residues(opcode):
    random = np.random.default_rng(9)
    access = opcodes.classify(opcode, "global")
    for reach in (16, 40, 4000):
        addresses = (random.integers(-reach, reach, (60, 32))) * access.width
        addresses[::3] = addresses[::3, :1] + LANES * access.width
        active = random.random((60, 32)) < 0.7
        active[5] = False
        for residue, found in sectors.moved(
            access, addresses, active, range(access.width, 128, access.width), "by rule"
        ):
            there = score(opcode, "global", addresses + residue, active)
            for name in ("low", "high", "ideal", "ways", "lines", "lines_ideal", "lines_low"):
                assert (getattr(found, name) == getattr(there, name)).all(), (name, residue)


def test_local_memory_is_interleaved_by_word():
    random = np.random.default_rng(8)
    for width in (1, 4, 8, 16):
        addresses = random.integers(0, 16, (100, 32)) * width
        active = random.random((100, 32)) < 0.7
        active[:, 3] = True
        found = score({1: "LDL.U8", 4: "LDL", 8: "LDL.64", 16: "LDL.128"}[width], "local", addresses, active)
        for row in range(100):
            places = {
                128 * (byte // 4) + 4 * lane
                for lane in np.flatnonzero(active[row]).tolist()
                for byte in range(int(addresses[row][lane]), int(addresses[row][lane]) + width)
            }
            assert found.low[row] == len({place // 32 for place in places})
            assert found.lines[row] == len({place // 128 for place in places})


def test_copy_past_l1_moves_a_sector_per_filled_sector():
    rows, column = LANES // 8, LANES % 8 * 16
    source = 128 * rows + column
    straight, padded = (
        score("LDGSTS.E.BYPASS.128", "global", source, others=pitch * rows + column) for pitch in (128, 144)
    )
    unknown = score("LDGSTS.E.BYPASS.128", "global", source)
    assert (straight.low[0], padded.low[0]) == (16, 24)
    assert (unknown.low[0], unknown.high[0]) == (16, 32)


def test_misaligned_global_access_is_rejected():
    with pytest.raises(InputError, match="not a multiple of 16"):
        score("LDG.E.128", "global", 8 * LANES)


@pytest.mark.parametrize("opcode", ["LDG.E.WIDE", "ld.global.v3.u32x", "LDS", "STG.E.64.128"])
def test_unknown_memory_opcode_is_rejected(opcode):
    with pytest.raises(InputError):
        opcodes.classify(opcode, "global")


# --- blocks and rounds ------------------------------------------------------------------------


def test_residue_occurrences_equal_counting():
    for first, last, period in ((0, 9, 4), (3, 3, 8), (5, 100, 7), (2, 1, 3)):
        counted = [sum(n % period == r for n in range(first, last + 1)) for r in range(period)]
        assert residues.occurrences(np.array([first]), np.array([last]), period)[0].tolist() == counted


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("block", [96, 100, 7])
def test_blocks_at_any_offset_in_a_line_are_exact(isa, block):
    grid, n, s = 37, 37 * block - 5, 3
    report = audited(KERNEL, "global", isa, grid=(grid,), block=(block,), params=[None, None, n, s])
    load, store = report.kernels[0].memory
    threads = np.arange(grid * block)
    warps = [threads[b * block + w : b * block + min(w + 32, block)] for b in range(grid) for w in range(0, block, 32)]
    loaded = sum(len(set((4 * s * warp // 32).tolist())) for warp in warps)
    stored = sum(len(set((4 * (warp[warp < n] + 1) // 32).tolist())) for warp in warps)
    assert (load.status, load.sectors, store.status, store.sectors) == (Status.EXACT, loaded, Status.EXACT, stored)
    assert load.bytes_used == 4 * grid * block and store.bytes_used == 4 * n


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_trips_of_a_long_loop_are_counted_by_their_residues(isa):
    text = (
        'extern "C" __global__ void k(const float* in, float* out, int n) {\nfloat sum = 0;\n#pragma unroll 1\nfor (int'
        " i = 0; i < n; i++) sum += in[threadIdx.x + i];\nout[threadIdx.x] = sum; }"
    )
    n = 100_000_003  # too many to run one by one
    report = audited(text, "global", isa, grid=(1,), block=(32,), params=[None, None, n])
    load = report.kernels[0].memory[0]
    assert (load.status, load.requests) == (Status.EXACT, n)
    assert load.sectors == 5 * n - (n + 7) // 8  # 4 in rounds that begin at a multiple of 8, otherwise 5


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_trips_of_a_loop_with_a_constant_address_are_counted(isa):
    text = """
extern "C" __global__ void __launch_bounds__(64) k(volatile float* in, float* out, int n) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) sum += in[threadIdx.x * 2];
    out[threadIdx.x] = sum;
}
"""
    report = audited(text, "global", isa, grid=(1,), block=(64,), params=[None, None, 5])
    load = report.kernels[0].memory[0]
    assert (load.status, load.requests, load.sectors) == (Status.EXACT, 10, 80)
    report = audited(text, "global", isa, grid=(1,), block=(64,), params=[None, None, 70_000])
    load = report.kernels[0].memory[0]
    assert (load.status, load.requests, load.sectors) == (Status.EXACT, 140_000, 8 * 140_000)


# --- reports ----------------------------------------------------------------------------------


def test_closed_loop_over_blocks_of_several_alignments_equals_the_run(monkeypatch):
    """Blocks begin at different places of a line: a row of requests becomes several, as do those of a round."""
    folder = samples.SAMPLES / "shuffle_reduction"
    launches = [one for one in ptxaudit.read_launches(folder / "launch.toml") if one.kernel == "block_argmax"]

    def figures():
        report = ptxaudit.audit(folder / "shuffle_reduction.cu", isa="both", space="global", launches=launches)
        assert not report.problems
        return [(s.id, s.requests, s.sectors, s.tag_requests) for k in report.kernels for s in k.memory]

    closed = figures()
    monkeypatch.setattr(Repeats, "_attempt", lambda *_: False)
    assert closed == figures() and any(requests for _, requests, *_ in closed)


def test_unspecified_pointer_is_conditional_with_the_aligned_case_first():
    report = audited(KERNEL, "global", assume={}, grid=(2,), block=(64,), params=[None, None, 128, 1])
    load = report.kernels[0].memory[0]
    assert (load.status, load.bounds) == (Status.CONDITIONAL, (16, 20))
    assert (load.conditions[0].when, load.conditions[0].low) == ("base mod 128 in {0, 32, 64, 96}", 4)


def test_shared_sites_are_independent_of_other_spaces():
    launch = {"grid": (4,), "block": (256,), "params": [None, None, 900, 2]}
    alone, beside = (audited(KERNEL, space, **launch).kernels[0] for space in ("shared", "all"))
    assert beside.sites == alone.sites and alone.memory == ()
    assert [site.space for site in beside.memory] == ["global", "global"]


def test_copy_is_a_site_of_two_memories():
    text = KERNEL.replace(
        "tile[threadIdx.x] = in[i * s];",
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" :: '
        '"r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x)), "l"(in + i * s));',
    )
    for isa in ("ptx", "sass"):
        kernel = audited(text, "all", isa, grid=(1,), block=(64,), params=[None, None, 64, 8]).kernels[0]
        copies = [site for site in (*kernel.sites, *kernel.memory) if site.access == "cp.async"]
        assert [site.space for site in copies] == ["shared", "global"]
        assert copies[1].sectors == 64 and copies[0].requests == copies[1].requests == 2


def test_json_with_memory_sites_is_valid_and_reads_back():
    report = audited(KERNEL, "all", "both", grid=(4,), block=(256,), params=[None, None, 900, 2])
    data = json.loads(report.to_json())
    validate(data)
    assert {site["space"] for kernel in data["kernels"] for site in kernel["sites"]} == {"shared", "global"}
    assert parse_report(report.to_json()) == report


def test_audit_text_has_a_section_per_memory(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    options = [
        "audit",
        str(path),
        "--grid",
        "4",
        "--block",
        "256",
        "--param",
        "n=900",
        "--param",
        "s=2",
        "--assume",
        "*%256",
        "--no-cache",
    ]
    plain, every = (CliRunner().invoke(main, [*options, *more]) for more in ((), ("--space", "all")))
    assert plain.exit_code == every.exit_code == 0
    assert "global memory" not in plain.output and "  global memory\n" in every.output
    assert "lanes are 8 bytes apart: 8 sectors for the bytes of 4" in every.output


# --- gates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit, denied",
    [
        ("sectors-excess=4", 1),
        ("sectors-excess=5", 0),
        ("registers=1", 1),
        ("registers=255", 0),
        ("spills=0", 0),
        ("occupancy=100", 0),
        ("occupancy=101", 1),
    ],
)
def test_limits_on_memory_and_resources(limit, denied):
    report = audited(KERNEL, "global", "sass", grid=(4,), block=(256,), params=[None, None, 1024, 2])
    assert len(gate.judge(report, [gate.parse_limit(limit)]).denials) == denied


def test_limit_on_an_unknown_figure_is_not_judged():
    report = audited(KERNEL, "global", "sass")
    verdict = gate.judge(report, [gate.parse_limit("occupancy=50")])
    assert not verdict.denials and len(verdict.warnings) == 1
    assert len(gate.judge(report, [gate.parse_limit("occupancy=50")], strict=True).denials) == 1


def test_limit_on_sectors_requires_the_space(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    result = CliRunner().invoke(main, ["audit", str(path), "--fail-on", "sectors-excess=1"])
    assert result.exit_code == 2 and "--space global" in result.output


def test_explain_draws_lanes_in_sectors(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(KERNEL)
    result = CliRunner().invoke(
        main,
        [
            "explain",
            str(path),
            "k.cu:7",
            "--space",
            "global",
            "--grid",
            "4",
            "--block",
            "256",
            "--param",
            "n=900",
            "--assume",
            "*%256",
        ],
    )
    assert result.exit_code == 0, result.output
    assert "line +0  ·" not in result.output and "k@k.cu:7:ptx.global.store" in result.output
    assert (
        "line +0  0–6 28 B  7–14 32 B  15–22 32 B  23–30 32 B" in result.output and "line +1  31 4 B" in result.output
    )


# --- profiles ---------------------------------------------------------------------------------


def test_compare_reads_the_profilers_global_memory_columns():
    report = audited(KERNEL, "all", "sass", grid=(4,), block=(256,), params=[None, None, 900, 2])
    kernel = report.kernels[0]
    columns = (
        '"Address","Source","Instructions Executed","L1 Tag Requests Global","L1 Wavefronts Shared","L1 Wavefronts'
        ' Shared Ideal","L2 Theoretical Sectors Global"'
    )

    def profile(wrong: int):
        rows = ['"0x1000","NOP","32","0","0","0","0"']
        rows += [
            f'"{0x1000 + one.offset:#x}","{one.text}","{one.requests}","0","{one.wavefronts}","{one.ideal}","0"'
            for one in kernel.sites
        ]
        rows += [
            f'"{0x1000 + one.offset:#x}","{one.text}","{one.requests}","{one.tag_requests}","0","0","{one.sectors + wrong}"'
            for one in kernel.memory
        ]
        (found,) = parse_export("\n".join(['"Kernel Name","k",', columns, *rows])).profiles
        return compare(kernel, found)

    assert [row.verdict for row in profile(0).memory] == [Verdict.EQUAL] * 2 and not profile(0).differs
    assert [row.verdict for row in profile(-1).memory] == [Verdict.DIFFERS] * 2 and profile(-1).differs
    # a counter with more sectors than its tag requests can hold, four each, proves nothing
    assert [row.verdict for row in profile(1).memory] == [Verdict.DISPUTED, Verdict.DIFFERS] and profile(1).differs
    assert profile(0).to_dict()["memory"][0]["profile"]["sectors"] == kernel.memory[0].sectors


# --- loops ------------------------------------------------------------------------------------


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_loops_have_shares_of_the_sectors(isa):
    text = """
extern "C" __global__ void k(const float* in, float* out, int n) {
    __shared__ float t[32][32];
    t[threadIdx.x / 32][threadIdx.x % 32] = n;
    __syncthreads();
    float s = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        s += t[threadIdx.x % 32][k & 31] + in[threadIdx.x + k * 32];
    }
    out[threadIdx.x] = s;
}
"""
    launches = [ptxaudit.Launch("k", grid=(1,), block=(1024,), params=[None, None, 10])]
    (kernel,) = ptxaudit.audit(text, space="all", isa=isa, assume=ALIGNED, launches=launches, top=3).kernels
    (loop,) = kernel.loop_shares
    assert (loop.depth, loop.sites, loop.open, loop.trips) == (1, 2, 0, 10)
    assert (loop.wavefronts, loop.sectors) == (32 * 32 * 10, 32 * 4 * 10)
    assert loop.share == pytest.approx(10240 / (10240 + 32)) and loop.sectors_share == pytest.approx(
        1280 / (1280 + 128)
    )
    assert loop.place.endswith((":8", ":9"))
    assert ptxaudit.audit(text, isa=isa, launches=launches).kernels[0].loop_shares == ()


@pytest.mark.parametrize("space", ["global", "all"])
@pytest.mark.parametrize("form", NAMES)
def test_every_format_renders_every_memory(space, form, tmp_path):
    """Includes patterns and repairs, which pages request: shared memory and the other memories are distinguished."""
    (tmp_path / "k.cu").write_text(
        'extern "C" __global__ void k(float *out, const float *in) { __shared__ float s[32][32];\n'
        " for (int i = 0; i < 4; ++i) s[threadIdx.x][i] = in[threadIdx.x * 32 + i];\n"
        " __syncthreads(); out[threadIdx.x] = s[0][threadIdx.x]; }\n"
    )
    more = ["--patterns"] if form == "json" else []
    options = ["--isa", "both", "--space", space, "--grid", "1", "--block", "32", "--format", form, "--top", "2", *more]
    done = CliRunner().invoke(main, ["audit", str(tmp_path / "k.cu"), *options])
    assert done.exit_code == 0 and "failed here" not in done.output, done.output
