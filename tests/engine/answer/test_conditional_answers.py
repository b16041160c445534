"""Cases of conditional answers: under a launch that meets the condition of one, every request costs what it states."""

from __future__ import annotations

import re

import pytest

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.base.status import Status
from ptxaudit.review.diff.reports import Verdict, diff_reports
from ptxaudit.ui.render.changes import diff_text

SHARED = """
extern "C" __global__ void visits(float *g, int pitch) {
    __shared__ float s[8192];
    #pragma unroll 1
    for (int i = 1; i <= 2; i++) { s[threadIdx.x * pitch * i] = 1.f; __syncthreads(); }
    g[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void guarded(float *g, int pitch, int n) {
    __shared__ float s[8192];
    if (threadIdx.x < n) s[threadIdx.x * pitch] = 1.f;
    __syncthreads();
    g[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void by_data(float *g, int pitch) {
    __shared__ float s[8192];
    if (g[threadIdx.x] > 0.f) s[threadIdx.x * pitch] = 1.f;
    __syncthreads();
    g[threadIdx.x] = s[threadIdx.x];
}
"""
GLOBAL = """
extern "C" __global__ void next_one(float *g) { g[threadIdx.x + 1] = 1.f; }
extern "C" __global__ void by_two_bytes(char *g) { *(float *)(g + 4 * threadIdx.x + 2) = 1.f; }
extern "C" __global__ void moving(float *g) {
    #pragma unroll 1
    for (int i = 0; i < 2; i++) g[threadIdx.x + 3 * i] = 1.f;
}
extern "C" __global__ void of_some(float *g, int n) { if (threadIdx.x < n) g[threadIdx.x] = 1.f; }
"""
BLOCK = (64,)
GRID = (1,)
UNLESS = re.compile(r"(?:.*: )?(\w+) (.*?)(?:, unless \1 (.*))?")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    (folder / "shared.cu").write_text(SHARED)
    (folder / "global.cu").write_text(GLOBAL)
    return folder


def store(path, kernel, isa, space="shared", **launch):
    """The first store of a kernel under a launch, or under none."""
    launches = [ptxaudit.Launch(kernel, **launch)] if launch else []
    report = ptxaudit.audit(path, kernels=(kernel,), isa=isa, space=space, launches=launches, patterns=True)
    assert not report.problems
    return next(site for site in report.kernels[0].of(space) if site.access == "store")


def met(words: str, number: int) -> bool:
    """Whether a number is one of "mod 32 in {0, 4, … 28}", "exactly in {3}"."""
    modulus, listed = re.fullmatch(r"(?:mod (\d+)|exactly) in \{(.*)\}", words).groups()
    number = number % int(modulus) if modulus else number
    if steps := re.fullmatch(r"(-?\d+), (-?\d+), … (-?\d+)", listed):
        first, second, last = map(int, steps.groups())
        return number in range(first, last + 1, second - first)
    spans = [part.partition("–") for part in listed.split(", ")]
    return any(int(first) <= number <= int(last or first) for first, _, last in spans)


def case_of(conditions, name: str, number: int):
    """The one case whose words a number meets."""
    found = []
    for case in conditions:
        if (parts := UNLESS.fullmatch(case.when)) and parts[1] == name:
            found += [case] if met(parts[2], number) and not (parts[3] and met(parts[3], number)) else []
    (only,) = found
    return only


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize(("kernel", "more"), (("visits", []), ("guarded", [5]), ("guarded", [64])))
def test_requests_of_every_pitch_are_within_its_case(path, kernel, more, isa):
    shown = store(path / "shared.cu", kernel, isa, block=BLOCK)
    for pitch in (0, 1, 2, 3, 4, 8, 16, 20, 24, 31, 32, 33, 64, 1 << 30, 1 << 29):
        told = store(path / "shared.cu", kernel, isa, block=BLOCK, grid=GRID, params=[None, pitch, *more])
        assert told.status is Status.EXACT and told.distinct == len(told.patterns)
        for space in (shown, store(path / "shared.cu", kernel, isa)) if not more or isa == "ptx" else ():
            case = case_of(space.conditions, "pitch", pitch)
            assert all(case.low <= one.low and one.high <= case.high for one in told.patterns), (pitch, case)
            assert case.ideal in (None, *(one.ideal for one in told.patterns))


def test_cases_include_data_dependent_active_lanes(path):
    site = store(path / "shared.cu", "by_data", "ptx", block=BLOCK)
    assert site.status is Status.DATA_DEPENDENT and "which lanes are active" in site.reason
    case = case_of(site.conditions, "pitch", 32)
    assert (case.low, case.high) == (1, 32)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("grid", (None, GRID))
@pytest.mark.parametrize("kernel", ("next_one", "by_two_bytes", "moving", "of_some"))
def test_case_of_a_base_refers_to_the_array_address(path, kernel, grid, isa):
    launch = {"block": BLOCK, "grid": grid}
    shown = store(path / "global.cu", kernel, isa, "global", **launch)
    more = [7] if kernel == "of_some" else []
    for begin in range(128):
        if (begin + (2 if kernel == "by_two_bytes" else 0)) % 4:
            continue  # a launch that faults
        params = [0x7F0000000000 + begin, *more]
        told = store(path / "global.cu", kernel, isa, "global", block=BLOCK, grid=GRID, params=params)
        assert told.status is Status.EXACT
        case = case_of(shown.conditions, "base", begin)
        assert all(case.low <= one.low and one.high <= case.high for one in told.patterns), (begin, case)
        if kernel == "next_one":
            assert (case.low, case.high) == (told.patterns[0].low, told.patterns[0].high)


def test_misalignment_of_some_requests_is_not_reported_for_all(path):
    """A block may have one warp, and lanes that may be inactive may be those at which the others begin."""
    assert store(path / "global.cu", "of_some", "ptx", "global", block=BLOCK).misaligned is None


@pytest.mark.parametrize("factor", (1, 3, 8, 12))
def test_cases_hold_for_bank_counts_that_are_no_power_of_two(factor):
    """The residues of a number repeat after the line over its greatest common divisor with the step."""
    source = f"""extern "C" __global__ void k(float *g, int pitch) {{
        __shared__ float s[8192];
        s[threadIdx.x * {factor} * pitch] = 1.f;
        g[threadIdx.x] = s[threadIdx.x];
    }}"""
    machine = "banks=12,word=4,threads=32,broadcast=any"

    def first(**launch):
        (kernel,) = ptxaudit.audit(
            source, machine=machine, launches=[ptxaudit.Launch("k", block=(32,), **launch)], patterns=True
        ).kernels
        return next(site for site in kernel.sites if site.access == "store")

    shown = first()
    for pitch in range(1, 14):
        told = first(grid=(1,), params=[None, pitch])
        case = case_of(shown.conditions, "pitch", pitch) if shown.conditions else shown.per_request
        assert told.status is Status.EXACT and case.low <= told.wavefronts <= case.high, (pitch, case)


def test_cases_hold_if_requests_have_fewer_threads_than_a_warp():
    """Four threads together are eight requests per warp, with and without a launch."""
    source = SHARED.partition('extern "C" __global__ void guarded')[0]
    machine = "banks=4,word=4,threads=4"

    def first(**launch):
        report = ptxaudit.audit(
            source, machine=machine, launches=[ptxaudit.Launch("*", block=BLOCK, **launch)], patterns=True
        )
        assert not report.problems
        return next(site for site in report.kernels[0].sites if site.access == "store")

    shown = first()
    assert (shown.per_request.low, shown.per_request.high) == (8, 32)
    for pitch in (1, 2, 3, 4, 5):
        case = case_of(shown.conditions, "pitch", pitch)
        told = first(grid=GRID, params=[None, pitch])
        assert all(case.low <= one.low and one.high <= case.high for one in told.patterns)


@pytest.mark.parametrize("machine", ("banks=3,threads=3", "banks=6,threads=8", "banks=64,threads=64"))
def test_machine_whose_requests_do_not_divide_a_warp_is_refused(machine):
    with pytest.raises(InputError, match="warps of 32 threads are not whole requests of it"):
        ptxaudit.audit(SHARED, machine=machine)


def test_different_cases_within_one_range_are_a_change():
    old, new = (
        ptxaudit.audit(SHARED.replace("s[threadIdx.x * pitch] = 1.f", f"s[threadIdx.x * {index}] = 1.f"), isa="ptx")
        for index in ("pitch", "pitch * 2")
    )
    counts = diff_reports(old, new).counts
    assert counts[Verdict.STATUS_CHANGED] == 2 and Verdict.WORSE not in counts
    shown = diff_text(diff_reports(old, new))
    assert "before, 1–2 per request: 32 consecutive threadIdx.x per warp: pitch mod 32 in {2, 6, … 30}" in shown
    assert "now, 1–2 per request: 32 consecutive threadIdx.x per warp: pitch mod 16 in {1, 3, … 15}" in shown
    assert set(diff_reports(old, old).counts) == {Verdict.SAME}


def test_cause_describes_the_costliest_case(path):
    """The stride depends on the number that is not specified."""
    site = store(path / "shared.cu", "guarded", "ptx", block=BLOCK)
    assert site.cause.startswith("in the costliest case, 32 lanes (0-31) conflict in one bank")
    told = store(path / "shared.cu", "guarded", "ptx", block=BLOCK, grid=GRID, params=[None, 32, 64])
    assert told.cause == "32 lanes (0-31) conflict in one bank: stride 128 bytes"


ZEROS = """
extern "C" __global__ void filled(float *g, int n) {
    __shared__ float4 s[64];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(s + t);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(g + 4 * t), "r"((t * 7) % 17) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    g[t] = s[t].x;
}
"""


def test_zero_filling_copies_keep_the_zero_count_of_their_address_bits(tmp_path) -> None:
    """Machine code reads [address & ~15]; moved to a multiple of 16 by its lowest lane, other lanes would read elsewhere."""
    path = tmp_path / "zeros.cu"
    path.write_text(ZEROS)

    def copy(*params):
        launch = ptxaudit.Launch("filled", grid=GRID, block=(50,), params=params or None)
        report = ptxaudit.audit(path, isa="sass", space="global", launches=[launch])
        assert not report.problems
        return next(site for site in report.kernels[0].of("global") if "LDGSTS" in site.text)

    exact, unplaced = copy(4096, 0), copy()
    assert exact.status is Status.EXACT
    assert unplaced.bounds[0] <= exact.sectors <= unplaced.bounds[1]
    assert unplaced.per_request.low <= exact.per_request.low and exact.per_request.high <= unplaced.per_request.high
