"""`ptxaudit explain`: selecting a site, and every section of its explanation."""

from __future__ import annotations

import re
from functools import partial

import command_line
import pytest
from command_line import folder_with
from kernels import COLUMN, PITCH, PTX

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.review.explain import explain
from ptxaudit.ui.render.explanation import explanation_text

LAUNCH = Launch("*", grid=1, block=32)

LOOP = """\
__device__ void put(float* s, int at, float value) {
    s[at] = value;
}
extern "C" __global__ void loop(float* in) {
    __shared__ float tile[1024];
    #pragma unroll 1
    for (int step = 1; step <= 16; step *= 2)
        put(tile, threadIdx.x * step, in[step]);
    #pragma unroll 1
    for (int i = 0; i < 4; ++i)
        put(tile, threadIdx.x + 32 * i, in[i]);
    __syncthreads();
    in[threadIdx.x] = tile[threadIdx.x];
}
"""

here = folder_with({"column.cu": COLUMN, "pitch.cu": PITCH, "loop.cu": LOOP, "k.ptx": PTX})


def found(path, wanted, **options):
    sites, problems = explain(path, wanted, Options(**{"launches": [LAUNCH]} | options))
    assert problems == []
    return sites


def ids(path, wanted, **options):
    return [one.site.id for one in found(path, wanted, **options)]


# --- naming a site --------------------------------------------------------------------------


def test_site_is_selected_by_its_id(here):
    assert ids("column.cu", "column@column.cu:4:ptx.store") == ["column@column.cu:4:ptx.store"]


@pytest.mark.parametrize("wanted", ["column.cu:4", "./column.cu:4"])
def test_site_is_selected_by_file_and_line(here, wanted):
    assert ids("column.cu", wanted) == ["column@column.cu:4:ptx.store"]


def test_site_is_selected_by_the_line_of_inlining(here):
    assert ids("loop.cu", "loop.cu:8") == ["loop@loop.cu:2@loop.cu:8:ptx.store"]
    assert len(ids("loop.cu", "loop.cu:2")) == 2


def test_site_is_selected_by_its_ptx_line(here):
    assert ids("k.ptx", "15") == ids("k.ptx", "k.ptx:15") == ["stride:ptx.store"]


def test_site_is_selected_by_its_machine_code_offset(here):
    store = next(one for one in found("column.cu", "column.cu:4", isa="both") if one.site.offset is None)
    assert store.site.access == "store"
    offset = next(site.offset for site in sass_sites("column.cu") if site.access == "store")
    assert [one.site.offset for one in found("column.cu", f"column+{offset:#x}", isa="sass")] == [offset]
    assert [one.site.offset for one in found("column.cu", f"col*+{offset}", isa="both")] == [offset]
    assert [one.site.offset for one in found("column.cu", f"column+0{offset}", isa="sass")] == [offset]


@pytest.mark.parametrize("wanted", ["column+010", "column.cu:" + "9" * 5000, "9" * 5000, "column+" + "9" * 5000])
def test_selection_without_a_site_is_rejected(wanted, here):
    for isa in ("ptx", "sass"):
        with pytest.raises(InputError, match="there is no shared-memory site at"):
            found("column.cu", wanted, isa=isa)


def sass_sites(path):
    import ptxaudit

    return ptxaudit.audit(path, isa="sass").sites


def test_site_is_explained_for_every_launch(here):
    assert len(found("column.cu", "column.cu:4", launches=[LAUNCH, Launch("*", grid=2, block=64)])) == 2


@pytest.mark.parametrize(
    "wanted, suggestion",
    [("column.cu:5", "column.cu:4"), ("nonsense", "column.cu:"), ("column+0x10", "column.cu:"), ("999", "column.cu:")],
)
def test_unknown_site_suggests_existing_ones(here, wanted, suggestion):
    with pytest.raises(InputError) as caught:
        found("column.cu", wanted)
    assert wanted in caught.value.what and suggestion in caught.value.hint and caught.value.file == "column.cu"


def test_kernel_without_sites_is_reported(here):
    (here / "none.cu").write_text("__global__ void none(int* a) { a[0] = 1; }\n")
    with pytest.raises(InputError, match="no kernel here has one"):
        found("none.cu", "none.cu:1")


# --- sections -------------------------------------------------------------------------------


def text(path, wanted, **options):
    (one,) = found(path, wanted, **options)
    return explanation_text(one)


def test_conflict_is_explained_from_formula_to_rule(here):
    said = text("column.cu", "column.cu:4")
    assert said.startswith("column@column.cu:4:ptx.store\n  column\n")
    assert "       4 │ s[tid * 32] = in[tid];" in said
    assert "= instruction: st.shared.f32 [" in said
    assert "  s + 128*lane\n" in said  # the formula
    assert re.search(r"lanes 0–7 +0 +128 +256 +384 +512 +640 +768 +896\n", said)
    assert re.search(r"lanes 24–31 .* 3968\n", said)  # the 32 addresses
    assert re.search(r"\n +32 +31!\n", said)  # the map: lane 31 is the 32nd in bank 0
    assert "! collides" in said
    assert "lanes 0-31 take 32 wavefronts: bank 0 has 32 words" in said  # why
    assert "the rule of sm_90: " in said and "evidence for this instruction: measured" in said


RARE = """\
extern "C" __global__ void k(float* out) {
    __shared__ float s[32][32];
    #pragma unroll 1
    for (int i = 0; i < 13; i++) s[i == 12 ? threadIdx.x : 0][i == 12 ? 0 : threadIdx.x ^ (i & 3)] = i;
    __syncthreads();
    out[threadIdx.x] = s[0][threadIdx.x];
}
"""


def test_costliest_request_is_drawn_once_beside_its_repair(here):
    """The costliest request comes first, even if others are more frequent."""
    (here / "rare.cu").write_text(RARE)
    (one,) = found("rare.cu", "rare.cu:4")
    assert [pattern.low for pattern in one.result.patterns][:3] == [1, 1, 1]
    said = explanation_text(one)
    assert "1 request like this: 32 wavefronts each" in said and "\nafter, offsets by lane" in said
    assert "\nbefore, offsets by lane" not in said


def test_inactive_lanes_are_dots(here):
    (here / "part.cu").write_text(COLUMN.replace("s[tid * 32] = in[tid];", "if (tid % 2) s[tid * 32] = in[tid];"))
    assert re.search(r"lanes 0–7 +· +0 +· +256 +· +512", text("part.cu", "part.cu:4"))


def test_formula_contains_the_unknowns(here):
    said = explanation_text(found("pitch.cu", "pitch.cu:5", launches=[Launch("*", block=32)])[0])
    assert "address of its first request, in bytes; lane = 0, 1, …:\n  s + 4*lane\n" in said
    first = found(
        "pitch.cu", "pitch.cu:3", launches=[Launch("*", grid=1, block=32, named={"n": 3, "m": 8}, dynamic_shared=4096)]
    )
    assert any("*n" in one.formula for one in first)  # even though the launch specifies n


def test_loop_is_explained_by_trips(here):
    said = text("loop.cu", "loop.cu:8")
    rows = re.findall(r"^ +(\d) +1 +(\d+) +1 +(\d+)$", said, re.MULTILINE)
    assert rows == [("1", "1", "0"), ("2", "2", "1"), ("3", "4", "3"), ("4", "8", "7"), ("5", "16", "15")]
    assert "4 trips, each 1 request, 1 wavefront, ideal 1" in text("loop.cu", "loop.cu:11")


def test_unrolled_copies_are_explained_once_with_their_addresses(here):
    (here / "unrolled.cu").write_text(LOOP.replace("unroll 1", "unroll"))
    said = text("unrolled.cu", "unrolled.cu:11")
    assert "3 copies of this access with requests like these" in said
    for copy in (2, 3, 4):
        assert f"  loop@unrolled.cu:2@unrolled.cu:11:ptx.store.{copy}  tile + 4*lane + {128 * (copy - 1)}\n" in said
    assert len(found("unrolled.cu", "unrolled.cu:8")) > 3  # their strides differ


def test_conditions_are_listed_completely(here):
    said = explanation_text(found("k.ptx", "15", launches=[])[0])
    assert "it depends:\n" in said and "32 consecutive threadIdx.x per warp" in said.partition("it depends:")[2]


# --- the command ----------------------------------------------------------------------------

run = partial(command_line.run, "explain")


def test_slice_graph_is_printed_and_written(here):
    result = run("loop.cu", "loop.cu:8", "--block", "32", "--show", "graph", "--dot", "g.dot")
    assert (
        "the slice that determines it, instruction by instruction" in result.stdout
        and "φ(" in result.stdout
        and "tid.x" in result.stdout
    )
    dot = (here / "g.dot").read_text()
    assert dot.startswith("digraph slice {") and dot.rstrip().endswith("}") and "->" in dot


def test_every_matching_site_is_explained(here):
    assert run("loop.cu", "loop.cu:2", "--grid", "1", "--block", "32").stdout.count("the rule of sm_90") == 2


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["gone.cu", "gone.cu:1"], "no such file"),
        (["column.cu", "column.cu:5"], "no shared-memory site at column.cu:5"),
        (["k.ptx", "15", "--kernel", "other"], "there is no kernel 'other'"),
    ],
)
def test_explain_rejects_bad_input_with_status_2(here, arguments, what):
    assert what in run(*arguments, status=2).stderr


ARRIVAL = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry arrive() {
 .reg .b32 a; .shared .align 8 .b8 barrier[8];
 mov.u32 a, barrier;
 mbarrier.arrive.shared.b64 _, [a];
 mbarrier.init.shared.b64 [a], 1;
 ret;
}
"""


def test_uncounted_access_states_its_counting_rule(tmp_path):
    path = tmp_path / "arrive.ptx"
    path.write_text(ARRIVAL)
    (arrival,) = found(path, "arrive.ptx:7")
    assert (arrival.site.status, arrival.site.wavefronts) == ("exact", 0)
    assert "counting rule: no wavefront counter includes arrivals and tests" in explanation_text(arrival)
    (init,) = found(path, "arrive.ptx:8")
    assert (init.site.status, init.site.wavefronts) == ("exact", 0)
    assert "op_misc" in explanation_text(init) and "1 per barrier" in explanation_text(init)
