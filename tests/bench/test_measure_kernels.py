"""The measurement script without a GPU: it packs parameters, fills buffers, and joins a report with its launches."""

from __future__ import annotations

import gzip
import importlib.util
import json
import struct
import sys
from types import SimpleNamespace

import pytest
from paths import ROOT

SCRIPT = ROOT / "bench" / "measure_kernels.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("measure_kernels", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_parameter_values_are_encoded_by_size(script) -> None:
    assert script.encode(1024, 4) == struct.pack("<i", 1024)
    assert script.encode(-1, 4) == b"\xff" * 4
    assert script.encode(0.5, 4) == struct.pack("<f", 0.5)
    assert script.encode(0.5, 8) == struct.pack("<d", 0.5)
    assert script.encode("01000200", 4) == b"\1\0\2\0"


def test_buffers_of_all_samples_can_be_filled(script) -> None:
    filled = [buffer for sample in script.samples() for buffer in script.buffers(sample)]
    assert filled
    for buffer in filled:
        assert buffer.data().nbytes == script.BUFFER_BYTES
    counting = script.Buffer("*", 0, "int32", {"start": 7, "step": 2, "modulo": 3}).data()
    assert counting[:4].tolist() == [7, 9, 11, 7]


class FakeMetric:
    def __init__(self, values: dict[int, float], total: float = 0) -> None:
        self.values = values
        self.total = total

    def num_instances(self) -> int:
        return len(self.values)

    def correlation_ids(self):
        return SimpleNamespace(as_uint64=lambda i: list(self.values)[i])

    def as_double(self, i: int | None = None) -> float:
        return self.total if i is None else list(self.values.values())[i]


class FakeAction:
    """A kernel at address 0x1000: an entry, a dummy, a load, an addition."""

    text = {
        0x1000: "MOV R1, c[0x0][0x28]",
        0x1010: "@!PT LDS RZ, [RZ]",
        0x1020: "LDS  R0, [R2]",
        0x1030: "FADD R0, R0, R0",
    }

    def __init__(self) -> None:
        executed = dict.fromkeys(self.text, 4.0)
        self.metrics = {
            "memory_l1_wavefronts_shared": FakeMetric({0x1020: 128.0}),
            "memory_l1_wavefronts_shared_ideal": FakeMetric({0x1020: 4.0}),
            "inst_executed": FakeMetric(executed),
            "thread_inst_executed_true": FakeMetric(dict.fromkeys(self.text, 128.0)),
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": FakeMetric({}, 128.0),
        }

    def metric_by_name(self, name: str):
        return self.metrics.get(name)

    def sass_by_pc(self, pc: int) -> str:
        return self.text[pc]


def test_profiler_report_is_joined_with_its_launches(script, tmp_path, monkeypatch) -> None:
    one = SimpleNamespace(num_actions=lambda: 1, action_by_idx=lambda i: FakeAction())
    context = SimpleNamespace(num_ranges=lambda: 1, range_by_idx=lambda i: one)
    monkeypatch.setattr(script, "import_ncu_report", lambda: SimpleNamespace(load_report=lambda path: context))
    monkeypatch.setattr(script, "device_line", lambda name: name)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"device": "GPU", "launches": [{"kernel": "k"}]}))
    script.read(tmp_path / "r.ncu-rep", manifest, tmp_path / "out.json.gz")
    document = json.loads(gzip.decompress((tmp_path / "out.json.gz").read_bytes()))
    launch = document["launches"][0]
    assert launch["sites"] == [[0x20, "LDS R0, [R2]", 128, 4, 4, 128]]
    assert launch["hardware"]["_op_ld"] == 128.0
    assert launch["hardware"]["_op_st"] is None


def test_profiler_report_of_other_launches_is_refused(script, tmp_path, monkeypatch) -> None:
    context = SimpleNamespace(num_ranges=lambda: 0)
    monkeypatch.setattr(script, "import_ncu_report", lambda: SimpleNamespace(load_report=lambda path: context))
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"device": "GPU", "launches": [{"kernel": "k"}]}))
    with pytest.raises(SystemExit, match="0 launches in the report, 1 in the manifest"):
        script.read(tmp_path / "r.ncu-rep", manifest, tmp_path / "out.json.gz")
