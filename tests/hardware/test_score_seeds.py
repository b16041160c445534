"""The classic cases by hand, each under its own machine: strides, structs, filters, transposes, reductions, merges."""

from __future__ import annotations

import pytest

from ptxaudit import score_request

WARP = 32
LANES = range(WARP)


def cost(opcode: str, addresses, active: int | None = None, **machine):
    """(wavefronts, ideal) of one request."""
    score = score_request(opcode, list(addresses), active, **machine)
    assert score.bounds == (score.wavefronts, score.wavefronts)
    return score.wavefronts, score.ideal


# --- basic, half floats ---------------------------------------------------------------------


@pytest.mark.parametrize("access", ["ld", "st"])
@pytest.mark.parametrize("pitch, wavefronts", [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)])
def test_wavefronts_of_floats_by_stride(access, pitch, wavefronts):
    assert cost(f"{access}.shared.f32", [4 * pitch * lane for lane in LANES]) == (wavefronts, 1)


def test_half_floats_share_words_and_packed_halves_take_four():
    assert cost("ld.shared.b16", [2 * lane for lane in LANES]) == (1, 1)
    assert cost("ld.shared.v4.b32", [16 * lane for lane in LANES]) == (4, 4)


# --- Tesla: half-warps of sixteen banks ------------------------------------------------------


def test_tesla_struct_members_by_stride():
    three = [12 * lane for lane in LANES]  # struct { float x, y, z; }, one member
    two = [8 * lane for lane in LANES]  # struct { float x, y; }
    assert cost("ld.shared.f32", three, machine="tesla") == (2, 2)
    score = score_request("ld.shared.f32", two, machine="tesla")
    assert (score.wavefronts, score.ideal, score.ways) == (4, 2, 2)


def test_tesla_bytes_and_doubles():
    assert score_request("ld.shared.u8", list(LANES), machine="tesla").ways == 4  # "consecutive chars are 4-way"
    assert cost("ld.shared.f64", [8 * lane for lane in LANES], machine="tesla") == (8, 4)  # two requests, each 2-way
    assert cost("ld.shared.f32", [0] * WARP, machine="tesla") == (2, 2)  # one broadcast word


def test_tesla_score_is_a_range_if_the_broadcast_word_matters():
    # half-warp: in banks 0 and 1 two lanes share one of two words: one broadcast saves a step in only one bank
    addresses = ([0, 0, 64, 4, 4, 68] + [8 + 4 * i for i in range(10)]) * 2
    score = score_request("ld.shared.f32", addresses, machine="tesla")
    assert score.wavefronts is None and score.bounds == (4, 6) and score.ways is None


# --- Fermi ----------------------------------------------------------------------------------


def test_fermi_doubles_and_quads():
    assert cost("ld.shared.f64", [8 * lane for lane in LANES], machine="fermi") == (2, 2)
    score = score_request("ld.shared.v4.f32", [16 * lane for lane in LANES], machine="fermi")
    assert (score.bounds, score.ideal, score.ways) == ((4, 8), 4, 2)


# --- Kepler: a 21-tap filter over float2 ------------------------------------------------------


@pytest.mark.parametrize("machine, total", [("kepler-8byte", 21), ("kepler-4byte", 41)])
def test_kepler_filter_taps_by_machine(machine, total):
    taps = 21
    assert (
        sum(cost("ld.shared.v2.f32", [8 * (lane + tap) for lane in LANES], machine=machine)[0] for tap in range(taps))
        == total
    )


def test_kepler_four_byte_mode_merges_words_32_apart():
    near = [4 * (lane // 2 + 32 * (lane % 2)) for lane in LANES]
    far = [4 * (lane // 2 + 64 * (lane % 2)) for lane in LANES]
    assert cost("ld.shared.f32", near, machine="kepler-4byte") == (1, 1)
    assert cost("ld.shared.f32", far, machine="kepler-4byte") == (2, 1)
    assert cost("ld.shared.f32", near, arch="sm_90") == (2, 1)


# --- the abstract machine ---------------------------------------------------------------------


@pytest.mark.parametrize("broadcast", ["any", "one", "none"])
def test_wavefronts_of_four_banks_and_four_threads(broadcast):
    machine = f"banks=4,word=4,threads=4,broadcast={broadcast}"
    assert cost("ld.shared.f32", [0, 4, 8, 12], machine=machine) == (1, 1)
    assert cost("ld.shared.f32", [0, 8, 16, 24], machine=machine) == (2, 1)
    shared = {"any": 1, "one": 2, "none": 2}[broadcast]  # t[tid % 2]
    assert cost("ld.shared.f32", [0, 4, 0, 4], machine=machine) == (shared, 1)
    assert cost("ld.shared.f32", [0, 0, 0, 0], machine=machine) == (4 if broadcast == "none" else 1, 1)


def test_more_threads_than_banks_are_several_requests():
    assert cost("ld.shared.f32", [4 * lane for lane in range(8)], machine="banks=4,word=4,threads=8,broadcast=any") == (
        2,
        2,
    )
    assert cost(
        "ld.shared.f32", [4 * lane for lane in range(10)], machine="banks=4,word=4,threads=10,broadcast=any"
    ) == (3, 3)


def test_wavefronts_of_twelve_banks():
    machine = "banks=12,word=4,threads=32,broadcast=any"
    assert cost("ld.shared.f32", [4 * lane for lane in LANES], machine=machine) == (3, 3)  # 12 + 12 + 8 lanes
    assert cost("ld.shared.f32", [48 * lane for lane in LANES], machine=machine) == (32, 3)  # all in bank 0
    assert cost("ld.shared.f32", [52 * lane for lane in LANES], machine=machine) == (3, 3)  # pitch 13
    assert cost("ld.shared.v2.f32", [8 * lane for lane in LANES], machine=machine) == (
        12,
        6,
    )  # two requests, each with stride 2


# --- transposes, on sm_90 ---------------------------------------------------------------------


@pytest.mark.parametrize("pitch, wavefronts", [(32, 32), (33, 1)])
def test_transpose_of_32_by_32_floats(pitch, wavefronts):
    assert cost("ld.shared.f32", [4 * pitch * lane for lane in LANES]) == (wavefronts, 1)


@pytest.mark.parametrize(
    "size, opcode, pitch, expected",
    [
        (4, "ld.shared.f32", 16, (8, 1)),
        (4, "ld.shared.f32", 17, (2, 1)),
        (4, "ld.shared.f32", 18, (1, 1)),
        (8, "ld.shared.f64", 16, (32, 2)),
        (8, "ld.shared.f64", 17, (2, 2)),
        (8, "ld.shared.f64", 18, (4, 2)),
    ],
)
def test_transpose_of_a_16_by_16_tile(size, opcode, pitch, expected):
    column = [size * (pitch * (lane % 16) + lane // 16) for lane in LANES]
    assert cost(opcode, column) == expected


# --- reduction of 512 elements by 512 threads -------------------------------------------------


def warps_of(threads: int):
    for first in range(0, threads, WARP):
        yield [first + lane for lane in LANES]


def total(index, active) -> list[tuple[int, int]]:
    """(wavefronts, ideal) of each warp with an active lane."""
    figures = []
    for warp in warps_of(512):
        mask = sum(1 << lane for lane, thread in enumerate(warp) if active(thread))
        if mask:
            figures.append(cost("st.shared.f32", [4 * index(thread) for thread in warp], mask))
    return figures


def test_wavefronts_of_an_interleaved_reduction():
    trips = []
    for step in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        for offset in (0, step):  # t[index] += t[index + step]
            figures = total(lambda t, s=step, o=offset: 2 * s * t + o, lambda t, s=step: 2 * s * t < 512)
        trips.append(figures)
    assert [trip[0][0] for trip in trips] == [2, 4, 8, 16, 16, 8, 4, 2, 1]
    assert [len(trip) for trip in trips] == [8, 4, 2, 1, 1, 1, 1, 1, 1]
    assert sum(w for trip in trips for w, _ in trip) == 95
    assert sum(i for trip in trips for _, i in trip) == 20


def test_wavefronts_of_a_sequential_reduction():
    figures = [f for step in (256, 128, 64, 32, 16, 8, 4, 2, 1) for f in total(lambda t: t, lambda t, s=step: t < s)]
    assert (sum(w for w, _ in figures), sum(i for _, i in figures)) == (20, 20)


@pytest.mark.parametrize("words", range(1, 17))
def test_array_of_structs_conflicts_when_a_struct_has_an_even_number_of_words(words):
    wavefronts, ideal = cost("ld.shared.f32", [4 * words * lane for lane in LANES])
    assert (wavefronts > ideal) == (words % 2 == 0)


# --- vector loads and their merges --------------------------------------------------------------


def test_merges_of_64_bit_loads():
    assert cost("ld.shared.v2.u32", [8 * lane for lane in LANES]) == (2, 2)
    assert cost("ld.shared.v2.u32", [8 * (lane // 2) for lane in LANES]) == (1, 1)


def test_merges_of_128_bit_loads():
    uint4 = "ld.shared.v4.u32"
    consecutive = [16 * lane for lane in LANES]
    assert cost(uint4, consecutive, 1 << 15 | 1 << 16) == (2, 2)
    assert cost(uint4, consecutive, 1 << 0 | 1 << 15) == (1, 1)
    assert cost(uint4, consecutive, 0xFFFF) == (2, 2)
    assert cost(uint4, [16 * (lane // 2) for lane in LANES]) == (2, 2)
    first_by_1_then_by_2 = [lane // 2 if lane < 16 else 8 + lane // 4 * 2 + lane % 2 for lane in LANES]
    assert cost(uint4, [16 * i for i in first_by_1_then_by_2]) == (4, 4)
    fours = [lane // 8 + 8 * (lane // 4 % 2) for lane in LANES]  # 0, 8, 1, 9, 2, 10, 3, 11
    assert cost(uint4, [16 * i for i in fours]) == (4, 2)


def test_stores_never_merge_groups():
    assert cost("st.shared.v2.u32", [8 * (lane // 2) for lane in LANES]) == (2, 2)
    assert cost("st.shared.v4.u32", [16 * (lane // 2) for lane in LANES]) == (4, 4)
    assert cost("st.shared.v4.u32", [0] * WARP) == (4, 4)


def test_wavefronts_of_gemm_tile_stores():
    """Stores of A by st.shared.v4 with rows of kK + 8 floats, and of B.

    A takes 8 wavefronts of an ideal 4 for kK = 8 and 16, and 4 for kK = 32; B takes 4.
    """
    for k, expected in ((8, 8), (16, 8), (32, 4)):
        per_row = k // 4
        rows = [4 * ((lane // per_row) * (k + 8) + 4 * (lane % per_row)) for lane in LANES]
        assert cost("st.shared.v4.u32", rows) == (expected, 4)
    assert cost("st.shared.v4.u32", [16 * lane for lane in LANES]) == (4, 4)


# --- atomics ------------------------------------------------------------------------------------


def test_atomics_serialise_lanes_and_cas_doubles():
    same = [0] * WARP
    assert cost("ATOMS.ADD", same) == (32, 1)
    assert cost("ATOMS.POPC.INC.32", same) == (1, 1)
    assert cost("ATOMS.CAS", same) == (64, 2)
    assert cost("ATOMS.EXCH.64", same) == (32, 2)
    assert cost("ATOMS.CAS.64", same) == (64, 4)
    assert score_request("ATOMS.CAS", same).ways == 32


def test_request_without_active_lanes_costs_nothing():
    for opcode in ("LDS", "LDS.128", "STS.64", "ATOMS.CAS", "LDSM.16.M88.4", "LDGSTS.E.128", "ATOMS.CAST.SPIN"):
        score = score_request(opcode, [0] * WARP, 0)
        assert (score.wavefronts, score.ideal, score.ways) == (0, 0, 0)
    assert score_request("LDGSTS.E.BYPASS.128", [0] * WARP, 0).line_class_max == 0
