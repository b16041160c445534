"""Where addresses of shared variables flow to, and the requests that the engine keeps with their offsets."""

from __future__ import annotations

import numpy as np
import pytest

from ptxaudit.engine.answer.kept import Move
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part
from ptxaudit.pipeline.examine import examine
from ptxaudit.review.fix.arrays import DYNAMIC, arrays_of
from ptxaudit.review.fix.reach import reach


def examined(source: str, launch: Launch | None = None, **options):
    part = Part()
    (found,) = examine([source], Options(launches=[launch] if launch else [], keep=True, **options), part)
    assert not part.problems
    return found


def names(variables) -> set[str]:
    return {name.rpartition("E")[2][1:] or name for name in variables}


ADDRESSES = """
__device__ float* volatile kept;
extern "C" __global__ void k(float* out, int n) {
    __shared__ float a[256], b[256], c[256], d[256];
    float* p = n ? a : b;
    a[threadIdx.x] = 1; b[threadIdx.x] = 2; c[threadIdx.x] = 3; d[threadIdx.x] = 4;
    kept = c;
    __syncthreads();
    out[0] = p[threadIdx.x] + d[threadIdx.x ^ 1] + c[1];
}
"""


def test_access_may_reach_the_arrays_of_its_address_registers() -> None:
    function = examined(ADDRESSES).function
    found = reach(function)
    assert names(found.escaped) == {"c"}
    either = [names(variables) for variables in found.variables.values() if len(variables) > 1]
    assert either == [{"a", "b"}]
    one = next(index for index, variables in found.variables.items() if names(variables) == {"d"})
    variables = {next(iter(names([v.name]))): v.name for v in function.variables if v.space == "shared"}
    assert (
        found.may_touch(one, variables["d"])
        and not found.may_touch(one, variables["a"])
        and found.may_touch(one, variables["c"])
    )


def test_machine_code_accesses_may_reach_everything() -> None:
    assert reach(examined(ADDRESSES, isa="sass").function).everything


def test_requests_record_their_places() -> None:
    source = """
extern "C" __global__ void k(const float* in, float* out, int n) {
    __shared__ float s[4][64];
    for (int i = 0; i < n; ++i) {
        s[i % 4][threadIdx.x] = in[i];
        __syncthreads();
    }
    out[threadIdx.x] = s[1][63 - threadIdx.x];
}
"""
    told = examined(source, Launch("k", grid=3, block=64, params=[None, None, 6]))
    places = {}
    for result in told.result.sites:
        for r in result.kept.requests:
            assert r.certain and not r.moves
            for row, weight in zip(r.offsets, r.weights):
                place = told.function.instructions[result.index].site.opcode, int(row[0])
                places[place] = places.get(place, 0) + int(weight)
    assert {place: weight for (opcode, place), weight in places.items() if opcode.startswith("st")} == {
        256 * stage + 128 * warp: 3 * (2 if stage < 2 else 1) for stage in range(4) for warp in range(2)
    }
    assert {place for (opcode, place) in places if opcode.startswith("ld")} == {256 + 252, 256 + 252 - 128}


def test_closed_form_trips_record_their_places() -> None:
    source = """
extern "C" __global__ void __launch_bounds__(32) k(float* out) {
    __shared__ float s[8192];
    #pragma unroll 1
    for (int i = threadIdx.x; i < 8192; i += 32) s[i] = 0;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
    found = examined(source, Launch("k", grid=2, block=32))
    store = next(
        result
        for result in found.result.sites
        if found.function.instructions[result.index].site.opcode.startswith("st")
    )
    places: dict[int, int] = {}
    for r in store.kept.requests:
        moves = [range(move.low, move.high + 1) for move in r.moves]
        assert all(move.every for move in r.moves) and len(moves) <= 1
        for row, weight in zip(r.offsets, r.weights):
            for k in moves[0] if moves else (0,):
                start = int(row[0]) + (r.moves[0].step * k if moves else 0)
                places[start] = places.get(start, 0) + int(weight) // (len(moves[0]) if moves else 1)
    assert places == {128 * k: 2 for k in range(256)}


def test_unknown_offsets_without_a_launch_are_shifts() -> None:
    source = """
extern "C" __global__ void __launch_bounds__(32) k(float* out, int n) {
    __shared__ float s[4096];
    for (int i = 0; i < n; ++i) s[(i % 32) * 128 + threadIdx.x] = out[i];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 2];
}
"""
    found = examined(source)
    by_opcode = {found.function.instructions[result.index].site.opcode: result.kept for result in found.result.sites}
    (store,) = by_opcode["st.shared.u32" if "st.shared.u32" in by_opcode else "st.shared.f32"].requests
    assert store.weights is None and np.array_equal(store.offsets[0], 4 * np.arange(32))
    assert [move.step % 512 for move in store.moves] == [0] and not store.moves[0].every
    assert isinstance(store.moves[0], Move)


def test_places_are_recorded_only_on_request() -> None:
    part = Part()
    (found,) = examine([ADDRESSES], Options(launches=[Launch("k", grid=1, block=32)]), part)
    assert all(result.kept is None for result in found.result.sites)


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_dynamic_shared_memory_splits_between_disjoint_sites(isa) -> None:
    source = """
extern __shared__ float s[];
extern "C" __global__ void k(float* out) {
    s[threadIdx.x * 8] = 1;
    s[1024 + threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 8] + s[1024 + threadIdx.x];
}
"""
    found = examined(source, Launch("k", grid=1, block=128, dynamic_shared=8192), isa=isa)
    arrays = arrays_of(found)
    assert [(array.part, array.size) for array in arrays] == [(True, 127 * 32 + 4), (True, 512)]
    assert arrays[1].start - arrays[0].start == 4096 and not any(array.refused for array in arrays)
    if isa == "ptx":
        assert all(array.variable == DYNAMIC and array.dynamic for array in arrays)


def test_arrays_accessed_by_one_instruction_share_a_layout() -> None:
    source = """
extern "C" __global__ void k(const float* in, float* out, int n) {
    __shared__ float a[1024], b[1024];
    float *from = a, *to = b;
    #pragma unroll 1
    for (int i = 0; i < n; ++i) {
        to[threadIdx.x * 32] = from[threadIdx.x * 16];
        __syncthreads();
        float* t = from; from = to; to = t;
    }
    out[threadIdx.x] = from[threadIdx.x];
}
"""
    (array,) = arrays_of(examined(source, Launch("k", grid=1, block=32, params=[None, None, 4])))
    assert sorted([array.name, *(other.name for other in array.others)]) == ["a", "b"] and array.sizes == (4096, 4096)
