"""bench/calibrate without a GPU: the kernels contain the named instructions, plans are reproducible and within range,
logs become records.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from paths import DATA

import ptxaudit
from bench.calibrate import measure, plan, tensor, timing
from bench.calibrate.build import available, build
from bench.calibrate.instructions import INSTRUCTIONS, LANES
from bench.calibrate.patterns import WINDOW
from bench.calibrate.records import document
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.calibration import compare, read

PARTS = sorted(set(plan.PARTS) - {"probe"})


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("calibrate")
    build(folder, "sm_90")
    return folder


@pytest.fixture(scope="module")
def machine_code(built) -> dict[str, list[str]]:
    return json.loads((built / measure.MACHINE_CODE).read_text())


def test_calibration_kernel_issues_the_instruction_of_its_name(machine_code):
    assert set(machine_code) == {one.name for one in available("sm_90")} == set(INSTRUCTIONS)
    for name, one in INSTRUCTIONS.items():
        access, found = (
            classify(one.ptx.removesuffix(" src-size").removesuffix(" ignore-src"), None, " " not in one.ptx),
            machine_code[name],
        )
        assert access.width == one.width, name
        if not one.alone:
            assert access.operation == "loop" and found[0].startswith("STS") and len(found) == 3, name
            continue
        if one.kind == "generic atomic":
            found = found[:1]  # the code after it serves local addresses
        assert len(found) == one.requests and len(set(found)) == 1, name
        sass = classify(found[0])
        expected = "count" if one.name.startswith("red_count") else access.operation
        assert (sass.operation, sass.width) == (expected, one.width), name


def test_calibration_kernels_assemble_for_sm_120(tmp_path):
    build(tmp_path, "sm_120")
    assert set(json.loads((tmp_path / measure.MACHINE_CODE).read_text())) == {one.name for one in available("sm_120")}


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_120"])
def test_available_instructions_depend_on_the_architecture(arch):
    names = {one.name for one in available(arch)}
    assert (
        ("ca16" in names) == (arch != "sm_75")
        and ("stmatrix_x1" in names) == (arch == "sm_120")
        and "ldmatrix_x1" in names
    )


@pytest.mark.parametrize("part", PARTS)
def test_plans_are_deterministic_and_stay_within_their_window(part):
    requests = list(plan.PARTS[part]("sm_90"))
    assert requests and requests == list(plan.PARTS[part]("sm_90"))
    for one in requests:
        kernel = INSTRUCTIONS[one["kernel"]]
        assert len(one["addresses"]) == LANES * kernel.requests and 0 <= one["active"] < 1 << LANES
        assert all(
            0 <= address <= WINDOW - kernel.width and address % kernel.width == 0 for address in one["addresses"]
        )
        if kernel.kind == "copy":
            assert len(one["sources"]) == LANES * kernel.requests and all(
                source % kernel.width == 0 for source in one["sources"]
            )


def test_plan_file_is_read_back_in_chunks(tmp_path):
    plan.write(tmp_path / "plan.json.gz", "sm_90", "classes,zeros")
    requests = measure.read_plan(tmp_path / "plan.json.gz")["requests"]
    assert len(requests) == len([*plan.classes("sm_90"), *plan.zeros("sm_90")])
    chunks = [*measure._chunks(requests, 50)]
    assert sum(len(part) for _, part in chunks) == len(requests) and max(len(part) for _, part in chunks) == 50


LOG = """==PROF== Connected to process 1
"ID","Kernel Name","device__attribute_x","l1tex__data_pipe_lsu_wavefronts_mem_shared.sum","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc.sum"
"","","","",""
"0","lds","3","9","1"
"1","ca16","3","1,014","4"
==PROF== Disconnected
"""


def test_profiler_log_becomes_comparable_records(tmp_path, machine_code):
    (tmp_path / "log").write_text(LOG)
    counted = measure.read_log(tmp_path / "log")
    assert [c[measure.COUNTERS[""]] for c in counted] == [9, 1014]
    requests = [
        plan.request("lds", "stride8", [32 * lane for lane in range(LANES)]),
        plan.request(
            "ca16_flight2",
            "twice",
            [16 * lane for lane in range(LANES)] * 2,
            sources=[16 * lane for lane in range(LANES)] * 2,
        ),
    ]
    for one, figure, misc in zip(requests, (9, 12), (1, 4), strict=True):
        one["counters"] = {"": figure, "op_misc": misc}
    data = document(requests, machine_code, "A GPU (sm_90), driver 1, Nsight Compute 2, --options, more")
    assert (data["device"], data["driver"], data["profiler"]) == (
        "A GPU (sm_90)",
        "1",
        "Nsight Compute 2, --options, more",
    )
    (tmp_path / "data.json").write_text(json.dumps(data))
    agreements = compare(read(tmp_path / "data.json"))
    assert [(a.opcode, a.situation, a.exact) for a in agreements] == [
        ("LDS", "", 1),
        ("LDGSTS.E.128", "sources not in L1, 2 in flight", 1),
    ]


def test_tensor_launches_are_assembled_and_planned(built):
    assert (built / "tensor.cubin").read_bytes()[:4] == b"\x7fELF"
    launches = tensor.plan()
    assert {one["kernel"] for one in launches} == {
        *tensor.PRODUCTS,
        "copy_tile",
        "copy_bytes",
        "store_tile",
        "store_bytes",
        "reduce_tile",
        "reduce_bytes",
        *(f"tensor{dimensions}_{way}" for dimensions in (3, 4, 5) for way in ("in", "out")),
    }
    assert tensor.descriptor(0x100, 128, 1024, "128") == 0x10 | 8 << 16 | 64 << 32 | 1 << 62
    assert all(
        one["row_bytes"] <= 256 and one["bytes"] <= tensor.SHARED for one in launches if one["kernel"] == "copy_tile"
    )


def test_audited_wgmma_wavefronts_equal_the_counted_ones(built):
    kept = json.loads(gzip.decompress((DATA / "tensor_sm90.json.gz").read_bytes()))["launches"]
    counted = {one["kernel"]: one["counters"]["op_gmma"] for one in kept if one["kernel"].startswith("wgmma")}
    launch = ptxaudit.Launch(
        "wgmma*", grid=(1,), block=(tensor.THREADS,), params=[None] * 4, dynamic_shared=tensor.SHARED
    )
    report = ptxaudit.audit(str(built / "tensor.cubin"), launches=[launch], isa="sass")
    sites = {
        kernel.name: [site for site in kernel.sites if site.access == "wgmma"]
        for kernel in report.kernels
        if kernel.name in counted
    }
    assert {name: [site.wavefronts for site in found] for name, found in sites.items()} == {
        name: [n] for name, n in counted.items()
    }


def test_timed_launches_are_assembled_and_stay_within_their_window(built):
    sections = (built / "timing.cubin").read_bytes()
    launches = list(timing.launches())
    assert launches == list(timing.launches())
    assert {one["kernel"] for one in launches} == {*timing.KERNELS, *(f"timed_{name}" for name in tensor.PRODUCTS)}
    assert all(f".text.{one['kernel']}".encode() in sections for one in launches)
    for one in launches:
        kernel = timing.KERNELS.get(one["kernel"])
        if kernel is not None:
            assert max(one["addresses"]) < timing.WINDOW and len(one["addresses"]) == len(one["values"]) == LANES
            assert kernel.warps * timing.WINDOW < timing.SHARED


def test_committed_timings_match_the_planned_launches():
    kept = json.loads(gzip.decompress((DATA / "timing_sm90.json.gz").read_bytes()))["timed"]
    key = (
        "kernel",
        "pattern",
        "addresses",
        "active",
        "values",
        "whose",
        "blocks",
        "swizzle",
        "leading",
        "stride",
        "start",
    )
    planned = [[one.get(k) for k in key] for one in timing.launches()]
    assert sorted(map(str, planned)) == sorted(str([one.get(k) for k in key]) for one in kept)
    assert all((one["cycles"] > 0) == (one["kernel"] != "barrier_nothing") for one in kept)
