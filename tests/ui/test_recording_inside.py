"""The code that runs inside a recorded program.

Tests what it records of each framework, how it handles unknown versions, and that the program never notices. Stubs
with the frameworks' own signatures replace their hook points.
"""

from __future__ import annotations

import ast
import ctypes
import json
import re
import shutil
import struct
import subprocess
import sys
import threading
import time
import weakref
from array import array
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from paths import ROOT
from recorded import TRITON_CACHE

from ptxaudit.ui.recording.inside import adapters, hooks, log, memory
from ptxaudit.ui.recording.inside.adapters import cuda_core, cupy, inductor, numba, pycuda, release_of, triton
from ptxaudit.ui.recording.inside.log import OVERFLOW, SLOTS, Code, Log, Site
from ptxaudit.ui.recording.inside.recorder import Recorder
from ptxaudit.ui.recording.inside.values import encoded

INSIDE = ROOT / "ptxaudit" / "ui" / "recording" / "inside"
CUBIN = (TRITON_CACHE / "transpose" / "transpose.cubin").read_bytes()


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    monkeypatch.setenv("PTXAUDIT_DEBUG", "1")
    recorder = Recorder()
    recorder.open(Log(str(tmp_path)))
    return recorder


def events(folder, kind="launch"):
    found = [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [event for event in found if event["event"] == kind]


def counts(folder):
    (file,) = folder.glob("counts-*.bin")
    return array("Q", file.read_bytes())


# --- what it is made of -----------------------------------------------------------------------------


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", sorted(INSIDE.rglob("*.py")), ids=lambda path: str(path.relative_to(INSIDE)))
def test_only_the_standard_library_is_imported(path):
    for name in imports(path):
        own = name.startswith("ptxaudit.ui.recording.inside")
        assert own or name.split(".")[0] in sys.stdlib_module_names | {"__future__"}, name


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13", "3.14"])
def test_recorder_runs_in_other_python_versions(tmp_path, version):
    own = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    python = next(map(str, own), None) or shutil.which(f"python{version}")
    runs = python and not subprocess.run([python, "-c", "pass"], capture_output=True).returncode
    if not runs:
        pytest.skip(f"NOT RUN: there is no Python {version}")
    program = (
        "import sys; from ptxaudit.ui.recording.inside.log import *; log = sys.modules['ptxaudit'] and"
        " Log(sys.argv[1]);"
        "log.done(log.begin(Site(Code(b'x', '.cubin', 'f'), 'k', ('i32',)), (1, 1, 1), (7,)))"
    )
    environment = {"PYTHONPATH": str(INSIDE / "path"), "PTXAUDIT_RECORD": str(tmp_path)}
    subprocess.run([python, "-c", program, str(tmp_path)], env=environment, check=True)
    assert [event["params"] for event in events(tmp_path)] == [["i:07000000"]]


# --- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("p", 0x7F2C4A000000, "p:0000004a2c7f0000"),
        ("p0400", 1, "p:01000000000000000400"),
        ("i32", -2, "i:feffffff"),
        ("i1", True, "i:01"),
        ("u64", 2**64 - 1, "i:ffffffffffffffff"),
        ("f16", 1.5, "f:003e"),
        ("bf16", 1.5, "b:c03f"),
        ("f32", 0.5, "f:0000003f"),
        ("f64", 2.5, "f:0000000000000440"),
        ("b", b"\x01\x02", "b:0102"),
        ("?128", None, "?:128"),
    ],
)
def test_parameters_are_encoded_as_bytes(kind, value, text):
    assert encoded(kind, value) == text


def test_npy_file_is_read_by_numpy():
    import io

    numbers = np.arange(7, dtype="<i4")
    assert (np.load(io.BytesIO(memory.npy(numbers.tobytes(), "<i4"))) == numbers).all()
    for size in (0, 1, 63, 64, 65):
        data = bytes(range(size))
        assert np.load(io.BytesIO(memory.npy(data))).tobytes() == data
    assert np.load(io.BytesIO(memory.npy(b"abc", "<i4"))).dtype == np.uint8  # not a whole number of elements


def test_overlapping_extents_are_joined():
    extent = memory.Extent
    joined = memory._joined([extent(100, 50, "<i4"), extent(120, 100), extent(300, 4), extent(300, 4), extent(304, 4)])
    assert joined == [extent(100, 120), extent(300, 4), extent(304, 4)]


# --- the log -----------------------------------------------------------------------------------------


def test_equal_launches_are_merged_and_counted(tmp_path):
    log = Log(str(tmp_path))
    site = Site(Code(CUBIN, ".cubin", "f", "k"), "k", ("p", "i32"), (32, 1, 1))
    for pointer, number in ((4096, 1), (8192, 1), (4100, 1), (4096, 2), (4096, 2)):
        log.done(log.begin(site, (1, 1, 1), (pointer, number)))
    assert [event["params"] for event in events(tmp_path)] == [
        ["p:0010000000000000", "i:01000000"],
        ["p:0410000000000000", "i:01000000"],
        ["p:0010000000000000", "i:02000000"],
    ]
    assert list(counts(tmp_path)[:4]) == [0, 2, 1, 2]
    (code,) = events(tmp_path, "code")
    assert (tmp_path / code["code"]).read_bytes() == CUBIN


@pytest.mark.parametrize(
    ("launches", "params"),
    [
        ([("p0800", 4096), ("p1000", 4096)], ["p:00100000000000000800", "p:00100000000000001000"]),  # other strides
        ([("i64", 1), ("f64", 1.0)], ["i:0100000000000000", "f:000000000000f03f"]),
        ([("f32", 0.0), ("f32", -0.0)], ["f:00000000", "f:00000080"]),
        ([("f64", float("nan")), ("f64", float("nan"))], ["f:000000000000f87f"]),
    ],
)
def test_launches_are_equal_if_their_recorded_parameters_are(tmp_path, launches, params):
    log, code = Log(str(tmp_path)), Code(CUBIN, ".cubin", "f", "k")
    for kind, value in launches:
        log.done(log.begin(Site(code, "k", (kind,)), (1, 1, 1), (value,)))
    assert [event["params"] for event in events(tmp_path)] == [[text] for text in params]
    assert sum(counts(tmp_path)) == len(launches)


def test_failed_launch_is_not_recorded(tmp_path):
    log = Log(str(tmp_path))
    site = Site(Code(CUBIN, ".cubin", "f"), "k", ())
    log.begin(site, (1, 1, 1), ())
    assert events(tmp_path) == []


def test_launches_beyond_the_limit_are_counted(tmp_path):
    log = Log(str(tmp_path), most=2)
    site = Site(Code(CUBIN, ".cubin", "f"), "k", ("i32",))
    for number in range(7):
        log.done(log.begin(site, (1, 1, 1), (number,)))
    (more,) = events(tmp_path, "more")
    assert len(events(tmp_path)) == 2 and counts(tmp_path)[more["slot"]] == 5


def test_launches_beyond_the_counter_slots_are_counted(tmp_path):
    log = Log(str(tmp_path), most=10**9)
    site = Site(Code(CUBIN, ".cubin", "f"), "k", ("i32",))
    log._next = SLOTS - 3
    for number in range(6):
        log.done(log.begin(site, (1, 1, 1), (number,)))
    assert len(events(tmp_path)) == 2 and counts(tmp_path)[OVERFLOW] == 4


class Slow(list):
    """Counts, each of which is read a while before it is written."""

    def __getitem__(self, slot):
        found = super().__getitem__(slot)
        time.sleep(0.001)
        return found


@pytest.mark.parametrize("seen", [False, True], ids=["examined", "seen before"])
def test_launches_of_concurrent_threads_are_all_counted(tmp_path, recorder, monkeypatch, seen):
    made = Slow([0] * 4)
    monkeypatch.setattr(Log, "_mapped", lambda self: made)
    kernel_type, _, src, _ = compiled_kernel({"n": "i32"})
    triton.attach(SimpleNamespace(CompiledKernel=kernel_type), recorder, hooks.Patches())
    kernel = kernel_type(src, {}, "")
    site = Site(Code(CUBIN, ".cubin", "f"), "other", ())

    def launch():
        for _ in range(10):
            if seen:
                kernel.run(1, 1, 1, 0, 0, (), None, None, None, 5)
            else:
                recorder.done(recorder.begin(site, (1, 1, 1), ()))

    launch()
    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(made) == 50


def test_forked_process_has_its_own_log(tmp_path):
    program = (
        "import os, sys; from ptxaudit.ui.recording.inside.log import *; log = Log(sys.argv[1])\n"
        "launch = lambda: log.done(log.begin(Site(Code(b'x', '.cubin', 'f'), 'k', ()), (1, 1, 1), ()))\n"
        "launch()\n"
        "pid = os.fork()\n"
        "launch()\n"
        "os._exit(0) if not pid else os.waitpid(pid, 0)\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True, env={"PYTHONPATH": str(ROOT)})
    each = sorted(array("Q", file.read_bytes())[1] for file in tmp_path.glob("counts-*.bin"))
    assert len(events(tmp_path)) == 2 and each == [1, 2]


def test_counts_survive_a_killed_process(tmp_path):
    program = (
        "import os, signal, sys; from ptxaudit.ui.recording.inside.log import *; log = Log(sys.argv[1])\n"
        "for _ in range(5): log.done(log.begin(Site(Code(b'x', '.cubin', 'f'), 'k', ()), (1, 1, 1), ()))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], env={"PYTHONPATH": str(ROOT)})
    assert counts(tmp_path)[1] == 5


def test_fault_in_the_recorder_becomes_a_note(tmp_path, recorder, monkeypatch):
    monkeypatch.delenv("PTXAUDIT_DEBUG", raising=False)
    assert recorder.guarded("launches of X", lambda: 1 / 0) is None
    site = Site(Code(CUBIN, ".cubin", "f"), "k", ("i32",))
    assert recorder.begin(site, (1, 1, 1), ("no number",)) == []
    notes = [event["text"] for event in events(tmp_path, "note")]
    assert notes[0] == "launches of X could not be recorded: ZeroDivisionError: division by zero"
    assert notes[1].startswith("a launch of k could not be recorded: ValueError")
    recorder.note("x" * 10_000)
    assert len(events(tmp_path, "note")[-1]["text"]) == 501


def test_full_disk_does_not_end_the_program(recorder, monkeypatch):
    monkeypatch.delenv("PTXAUDIT_DEBUG", raising=False)

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    recorder.compiled(Code(CUBIN, ".cubin", "f"))
    site = Site(Code(CUBIN, ".cubin", "f"), "k", ())
    recorder.done(recorder.begin(site, (1, 1, 1), ()))
    recorder.note("a note")


# --- versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("3.6.0", (3, 6, 0)),
        ("2.11.0+cu130", (2, 11, 0)),
        ("14.0.0rc1", (14, 0, 0)),
        ("3.7.0.dev5", (3, 7, 0)),
        ("", None),
        ("main", None),
        ("1" * 50, (int("1" * 50),)),
    ],
)
def test_release_of_a_version_string(text, release):
    assert release_of(text) == release


ADAPTERS = sorted(set(adapters.WATCHED.values()))


@pytest.mark.parametrize("name", ADAPTERS)
def test_unsupported_framework_version_is_not_hooked(tmp_path, recorder, name, monkeypatch):
    adapter = __import__(f"{adapters.__name__}.{name}", fromlist=["KNOWN"])
    assert release_of(adapter.KNOWN[0]) < release_of(adapter.KNOWN[1])
    said = []
    watched = adapters.attached(recorder, hooks.Patches(), said.append)
    for version in ("0.0.1", "99.0", "main\x1b[2J" + "x" * 10_000):
        monkeypatch.setitem(sys.modules, adapter.PACKAGE, SimpleNamespace(__version__=version))
        for module in (module for module, of in adapters.WATCHED.items() if of == name):
            made = ModuleType(module)
            watched[module](made)
            assert set(vars(made)) == set(vars(ModuleType(module)))
            assert "is not supported" in said[-1] and adapter.NAME in said[-1] and adapter.KNOWN[0] in said[-1]


@pytest.mark.parametrize("name", ADAPTERS)
def test_recording_page_names_the_supported_versions(name):
    adapter = __import__(f"{adapters.__name__}.{name}", fromlist=["KNOWN"])
    page = (ROOT / "docs" / "recording.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("|") and adapter.NAME.split(".")[0] in line)
    versions = row.split("|")[2]
    first = adapter.KNOWN[0]
    assert first in versions or name == "jax" and "any" in versions, row


def test_changed_framework_interface_becomes_a_note(tmp_path, recorder, monkeypatch):
    monkeypatch.delenv("PTXAUDIT_DEBUG", raising=False)
    monkeypatch.setitem(sys.modules, "triton", SimpleNamespace(__version__="3.6.0"))
    watched = adapters.attached(recorder, hooks.Patches(), lambda why: None)
    watched["triton.compiler.compiler"](ModuleType("triton.compiler.compiler"))
    (note,) = events(tmp_path, "note")
    assert note["text"].startswith("launches of triton could not be recorded: AttributeError")


# --- import hooks and patches ------------------------------------------------------------------------


def test_import_hook_runs_after_the_import(tmp_path, monkeypatch):
    (tmp_path / "found_later.py").write_text("value = 1\ndef f(): return value\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    finder = hooks.Finder({"found_later": lambda module: seen.append(module.value), "never": seen.append})
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    import found_later

    assert seen == [1] and type(found_later.__loader__).__name__ == "SourceFileLoader"
    assert found_later.__spec__.loader is found_later.__loader__
    with pytest.raises(ModuleNotFoundError):
        __import__("never")
    monkeypatch.delitem(sys.modules, "found_later")


def test_patches_are_undone_in_importing_modules(monkeypatch):
    home, other = ModuleType("home"), ModuleType("other")
    home.launch = other.go = lambda: "own"
    monkeypatch.setitem(sys.modules, "home", home)
    monkeypatch.setitem(sys.modules, "other", other)
    patches = hooks.Patches()
    patches.set_everywhere(home, "launch", lambda: "recorded")
    patches.set(home, "new", 1)
    assert home.launch() == other.go() == "recorded"
    patches.undo()
    assert home.launch() == other.go() == "own" and not hasattr(home, "new")


def test_immutable_class_is_patched_and_restored():
    import _struct  # its Struct is an immutable type of an extension module, like those of cuda.core

    form = struct.Struct("i")
    patches, own = hooks.Patches(), _struct.Struct.pack
    with pytest.raises(TypeError):
        _struct.Struct.pack = own
    patches.set(_struct.Struct, "pack", lambda form, *values: b"seen" + own(form, *values))
    assert form.pack(7) == b"seen\x07\0\0\0"
    patches.undo()
    assert form.pack(7) == b"\x07\0\0\0" and _struct.Struct.__dict__["pack"] is own


# --- Triton ------------------------------------------------------------------------------------------


class Tensor:
    """The part of a torch.Tensor that a launcher uses."""

    dtype = "torch.float32"

    def __init__(self, address, shape=(4, 8)):
        self.address, self.shape = address, shape

    def data_ptr(self):
        return self.address

    def stride(self):
        return (self.shape[1], 1)

    def element_size(self):
        return 4


def compiled_kernel(signature, constants=None, **metadata):
    """A class like triton.compiler.compiler.CompiledKernel, and one kernel of it."""
    calls = []
    given = dict(name="k", num_warps=4, num_ctas=1, shared=16) | metadata

    class CompiledKernel:  # since 3.5: `run` is a property
        def __init__(self, src, metadata_group, hash):
            self.src, self.asm = src, {"cubin": CUBIN, "ptx": "// ptx"}
            self.metadata, self._run = SimpleNamespace(**given), None
            self.function, self.packed_metadata = 77, ()

        @property
        def run(self):
            if self._run is None:
                self._run = lambda *arguments: calls.append(arguments)
            return self._run

    class Older(CompiledKernel):  # earlier: `run` is an attribute that _init_handles sets
        run = None

        def _init_handles(self):
            self.run = lambda *arguments: calls.append(arguments)

        def __getattribute__(self, name):
            if name == "run":
                self._init_handles()
            return super().__getattribute__(name)

    src = SimpleNamespace(signature=signature, constants=constants or {}, fn=SimpleNamespace(arg_names=list(signature)))
    return CompiledKernel, Older, src, calls


SIGNATURE = {"x": "*fp32", "n": "i32", "s": "fp32", "B": "constexpr", "h": "fp16"}
ARGUMENTS = (Tensor(0x7F0000001000), 128, 0.5, 32, 1.5)
PARAMETERS = ["p:0010000000000000"[:2] + "00100000007f0000", "i:80000000", "f:0000003f", "f:003e"]


@pytest.mark.parametrize("which", [0, 1])
def test_triton_launches_equal_the_launcher_arguments(tmp_path, recorder, which):
    *types, src, calls = compiled_kernel(SIGNATURE)
    module = SimpleNamespace(CompiledKernel=types[which])
    patches = hooks.Patches()
    before = types[which]("early", {}, "hash")
    before.src = src
    triton.attach(module, recorder, patches)
    kernel = types[which](src, {}, "hash")
    assert [event["kernel"] for event in events(tmp_path, "code")] == ["k"]
    for one in (kernel, kernel, before):
        one.run(4, 2, 1, 0, one.function, (), None, None, None, *ARGUMENTS)
    kernel.run(0, 2, 1, 0, kernel.function, (), None, None, None, *ARGUMENTS)  # launches nothing
    (launch,) = events(tmp_path)
    assert launch["params"] == PARAMETERS and len(calls) == 4 and calls[0][9:] == ARGUMENTS
    assert (launch["grid"], launch["block"], launch["cluster"], launch["shared"]) == ([4, 2, 1], [128, 1, 1], None, 16)
    assert counts(tmp_path)[1] == 3
    patches.undo()
    kernel.run(9, 1, 1, 0, kernel.function, (), None, None, None, *ARGUMENTS)
    assert len(events(tmp_path)) == 1 and len(calls) == 5


@pytest.mark.parametrize(
    ("signature", "constants", "arguments", "parameters"),
    [
        # before 3.3, constants other than constexpr are in the signature, and only the launcher gets them
        ({"x": "*fp32", "one": "i32", "n": "i64"}, {"one": 1}, (None, 1, -1), ["p:" + "00" * 8, "i:" + "ff" * 8]),
        # since 3.3, constants are keyed by paths
        ({"x": "*fp32", "one": "constexpr", "n": "i1"}, {(1,): 1}, (16, 1, True), ["p:1000000000000000", "i:01"]),
        (
            {"t": ("*fp32", "i32", "constexpr"), "n": "u8"},
            {},
            ((8, 3, 0), 255),
            ["p:0800000000000000", "i:03000000", "i:ff"],
        ),
        ({"d": "nvTmaDesc", "n": "i32"}, {}, ("descriptor", 5), ["?:128", "i:05000000"]),
        ({"b": "bf16"}, {}, (1.5,), ["b:c03f"]),
    ],
)
def test_triton_arguments_are_flattened(tmp_path, recorder, signature, constants, arguments, parameters):
    kernel_type, _, src, _ = compiled_kernel(signature, constants)
    triton.attach(SimpleNamespace(CompiledKernel=kernel_type), recorder, hooks.Patches())
    kernel_type(src, {}, "").run(1, 1, 1, 0, 0, (), None, None, None, *arguments)
    assert [event["params"] for event in events(tmp_path)] == [parameters]


@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp32", "fp64"])
def test_triton_launches_with_zeros_of_both_signs_are_distinct(tmp_path, recorder, kind):
    kernel_type, _, src, _ = compiled_kernel({"x": "*fp32", "s": kind, "n": "i32"})
    triton.attach(SimpleNamespace(CompiledKernel=kernel_type), recorder, hooks.Patches())
    kernel = kernel_type(src, {}, "")
    for zero in (0.0, -0.0, 0, -0.0):
        kernel.run(1, 1, 1, 0, 0, (), None, None, None, Tensor(4096), zero, 7)
    assert len(events(tmp_path)) == 2 and list(counts(tmp_path)[1:3]) == [2, 2]


def test_triton_tensor_descriptors_are_flattened(tmp_path, recorder):
    signature = {"d": "tensordesc<fp16[64, 32]>", "e": "tensordesc<fp16[64]>", "n": "i32"}
    one = SimpleNamespace(shape=[128, 64], strides=[64, 1], base=Tensor(4096))
    other = SimpleNamespace(shape=[5], strides=[1], base=Tensor(8192))
    for meta, parameters in (
        ([{}, {}], ["?:128", "i:80000000", "i:40000000", "i:4000000000000000", "i:0100000000000000"]),
        ([{}, {"fp4_padded": True}], ["?:128", "i:80000000", "i:40000000", "i:4000000000000000", "i:0100000000000000"]),
        ([None, {}], []),
    ):
        kernel_type, _, src, _ = compiled_kernel(signature, tensordesc_meta=meta, name=f"k{len(events(tmp_path))}")
        triton.attach(SimpleNamespace(CompiledKernel=kernel_type), recorder, hooks.Patches())
        kernel_type(src, {}, "").run(1, 1, 1, 0, 0, (), None, None, None, one, other, 7)
        whole = [*parameters, "?:128", "i:05000000", "i:0100000000000000", "i:07000000"]
        assert events(tmp_path)[-1]["params"] == (whole if meta == [{}, {}] else parameters)


@pytest.mark.parametrize("metadata", [{"num_ctas": 2}, {"num_ctas": 2, "cluster_dims": (2, 1, 1)}])
def test_triton_cluster_multiplies_the_grid(tmp_path, recorder, metadata):
    kernel_type, _, src, _ = compiled_kernel({"n": "i32"}, **metadata)
    triton.attach(SimpleNamespace(CompiledKernel=kernel_type), recorder, hooks.Patches())
    kernel_type(src, {}, "").run(4, 3, 1, 0, 0, (), None, None, None, 1)
    (launch,) = events(tmp_path)
    assert (launch["grid"], launch["cluster"]) == ([8, 3, 1], [2, 1, 1])


def test_wrapped_launcher_forwards_attributes(recorder):
    kernel_type, _, src, _ = compiled_kernel({"n": "i32"})
    own = SimpleNamespace(launch_pdl=True)
    triton.attach(SimpleNamespace(CompiledKernel=kernel_type), recorder, hooks.Patches())
    kernel = kernel_type(src, {}, "")
    kernel._run = own
    assert kernel.run.launch_pdl is True


# --- cuda.core ---------------------------------------------------------------------------------------


def test_objects_without_weak_references_are_tracked(tmp_path, recorder, monkeypatch):
    class ObjectCode:
        __slots__ = ("code", "code_type")

        def get_kernel(self, name):
            return Kernel()

    class Kernel:
        __slots__ = ()
        arguments_info = ()

    ran = []
    modules = [ModuleType(f"cuda.core.{name}") for name in ("_module", "_launcher")]
    modules[0].ObjectCode, modules[1].launch = ObjectCode, lambda *given: ran.append(given)
    for module in modules:
        monkeypatch.setitem(sys.modules, module.__name__, module)
        cuda_core.attach(module, recorder, hooks.Patches())
    made = ObjectCode()
    made.code, made.code_type = CUBIN, "cubin"
    config = SimpleNamespace(grid=3, block=(64,), cluster=None, shmem_size=0)
    with pytest.raises(TypeError):
        weakref.ref(made)
    kernel = made.get_kernel("transpose")
    for _ in range(2):
        modules[1].launch(None, config, kernel)
    (launch,) = events(tmp_path)
    assert (launch["kernel"], launch["grid"], launch["block"], len(ran)) == ("transpose", [3, 1, 1], [64, 1, 1], 2)
    assert events(tmp_path, "note") == [] and counts(tmp_path)[1] == 2


def test_identity_map_keeps_the_latest_objects(monkeypatch):
    monkeypatch.setattr(cuda_core, "MOST_KEPT", 3)
    values, objects = cuda_core._ByIdentity(), [str(number) + "x" for number in range(5)]
    for one in (*objects, objects[-1]):
        values.put(one, one)
    assert [values.get(one) for one in objects] == [None, None, *objects[2:]]


@pytest.mark.parametrize(
    "numbers", [(0.0, -0.0), (1, 1.0), (1, True), (0j, complex(0.0, -0.0)), (np.float32(0.0), np.float32(-0.0))]
)
def test_equal_numbers_of_different_types_are_distinct_launches(recorder, numbers):
    config = SimpleNamespace(grid=1, block=32, cluster=None, shmem_size=0)
    one, other = ({cuda_core._key(config, (n,)), cupy._key(recorder, (n,), (1,), (32,))} for n in numbers)
    assert not one & other and None not in one | other
    assert cuda_core._key(config, (np.zeros(1),)) is None


# --- Inductor ----------------------------------------------------------------------------------------


def static_launcher(tmp_path):
    """A class like torch._inductor.runtime.static_triton_launcher's."""
    ran = []

    class StaticallyLaunchedCudaKernel:
        def __init__(self):
            self.name, self.hash, self.arg_tys, self.num_warps, self.shared = "triton_poi", "h", "OlfMi", 2, 64
            self.cubin_raw, self.cubin_path = None, str(tmp_path / "k.cubin")

        def load_kernel(self, device):
            self.cubin_path = None

        def run(self, grid_x, grid_y, grid_z, stream, *args):
            ran.append(args)

    return StaticallyLaunchedCudaKernel, ran


def test_inductor_launches_are_recorded(tmp_path, recorder, monkeypatch):
    monkeypatch.setattr(inductor, "_sites", {})
    (tmp_path / "k.cubin").write_bytes(CUBIN)
    kernel_type, ran = static_launcher(tmp_path)
    inductor.attach(SimpleNamespace(StaticallyLaunchedCudaKernel=kernel_type), recorder, hooks.Patches())
    kernel = kernel_type()
    kernel.run(1, 1, 1, 0, 4096, 7, 0.5, None, 3)
    (note,) = events(tmp_path, "note")
    assert "was not seen" in note["text"]
    kernel.load_kernel(0)
    kernel.run(3, 2, 1, 0, Tensor(4096), 7, 0.5, None, 3)
    (launch,) = events(tmp_path)
    assert (launch["grid"], launch["block"], launch["shared"]) == ([3, 2, 1], [64, 1, 1], 64)
    assert launch["params"] == ["p:0010000000000000", "i:0700000000000000", "f:0000003f"]  # up to the first unknown one
    assert len(ran) == 2
    for zero in (0.0, -0.0, -0.0):
        kernel.run(3, 2, 1, 0, Tensor(4096), 7, zero, None, 3)
    assert [event["params"][2] for event in events(tmp_path)] == ["f:0000003f", "f:00000000", "f:00000080"]
    assert list(counts(tmp_path)[1:4]) == [1, 1, 2]


def test_torch_without_the_static_launcher_is_reported(recorder):
    assert "has no StaticallyLaunchedCudaKernel" in inductor.attach(SimpleNamespace(), recorder, hooks.Patches())


# --- CuPy --------------------------------------------------------------------------------------------


def fake_cupy():
    """Classes like those of cupy.cuda.function, and a compiler module like cupy.cuda.compiler."""
    ran = []

    class Function:
        def __init__(self, module, funcname):
            self.module, self.ptr = module, 1

        def __call__(self, grid, block, args, shared_mem=0, stream=None, enable_cooperative_groups=False):
            ran.append(("call", grid, block))

        def linear_launch(
            self, size, args, shared_mem=0, block_max_size=128, stream=None, enable_cooperative_groups=False
        ):
            ran.append(("linear", size))

    class Module:
        def load(self, cubin):
            pass

        def get_function(self, name):
            return Function(self, name)

    function = SimpleNamespace(Module=Module, Function=Function, LinkState=object)

    def _compile_with_cache_cuda(source, options, arch, extra_source=None):
        module = compiler.function.Module()
        module.load(CUBIN if "cubin" in options else b".version 8.0\n\0")
        return module

    compiler = SimpleNamespace(function=function, _compile_with_cache_cuda=_compile_with_cache_cuda)
    return compiler, function, ran


class Array:
    """The part of a cupy.ndarray that a launch uses."""

    def __init__(self, address, shape, strides):
        self.data, self.shape, self.strides = SimpleNamespace(ptr=address), shape, strides
        self.size = shape[0] * shape[1]


class Indexer:
    size, shape = 12, (3, 4)


class CScalar:
    descr = SimpleNamespace(itemsize=4)
    kept = ctypes.c_int32(9)
    ptr = ctypes.addressof(kept)


def words(*numbers):
    return b"".join(number.to_bytes(8, "little") for number in numbers).hex()


def test_cupy_launches_are_recorded(tmp_path, recorder):
    compiler, function, ran = fake_cupy()
    patches = hooks.Patches()
    cupy.attach(compiler, recorder, patches)
    assert function.Module is not compiler.function.Module and compiler.function.LinkState is object
    kernel = compiler._compile_with_cache_cuda("__global__ …", ("cubin",), "90").get_function("k")
    array = Array(4096, (3, 4), (16, 4))
    kernel((2,), (32, 4), (array, None, np.float32(0.5), 7, 2.5, True, object.__new__(CScalar)), shared_mem=64)
    kernel.linear_launch(300, (array, Indexer()), 0, 128)
    kernel.linear_launch(10, [array])
    kernel.linear_launch(0, [array])
    first, second, third = events(tmp_path)
    assert first["params"] == [
        "p:" + words(4096, 12, 3, 4, 16, 4),
        "p:" + "00" * 8,
        "b:0000003f",
        "i:0700000000000000",
        "f:0000000000000440",
        "i:01",
        "b:09000000",
    ]
    assert (first["grid"], first["block"], first["shared"]) == ([2, 1, 1], [32, 4, 1], 64)
    assert (second["grid"], second["block"]) == ([3, 1, 1], [128, 1, 1])
    assert second["params"][1] == "b:" + words(12, 3, 4)
    assert (third["grid"], third["block"]) == ([1, 1, 1], [10, 1, 1])
    (code,) = events(tmp_path, "code")
    assert code["code"].endswith(".cubin") and (tmp_path / code["source"]).read_text() == "__global__ …"
    assert len(ran) == 4
    patches.undo()
    assert compiler.function is function


def test_cupy_cooperative_grid_and_ptx_length(tmp_path, recorder):
    compiler, _, _ = fake_cupy()
    cupy.attach(compiler, recorder, hooks.Patches())
    kernel = compiler._compile_with_cache_cuda("source", (), "90").get_function(b"k")
    kernel((2,), (32,), (), enable_cooperative_groups=True)
    (launch,) = events(tmp_path)
    assert launch["grid"] is None and launch["kernel"] == "k"
    assert (tmp_path / launch["code"]).read_bytes() == b".version 8.0\n"


# --- PyCUDA, Numba-CUDA ------------------------------------------------------------------------------


def test_pycuda_launches_are_recorded(tmp_path, recorder):
    class Module:
        def get_function(self, name):
            return Function()

    class Function:
        def _launch_kernel(self, grid, block, arg_buf, shared, stream):
            pass

    driver = SimpleNamespace(Module=Module, Function=Function, module_from_buffer=lambda data, options=(): Module())
    patches = hooks.Patches()
    pycuda.attach(driver, recorder, patches)
    kernel = driver.module_from_buffer(CUBIN, options=[]).get_function("k")
    kernel._launch_kernel((4, 2), (32, 1, 1), b"\x01\x02\x03\x04", 128, None)
    Function()._launch_kernel((1, 1), (1, 1, 1), b"", 0, None)
    (launch,) = events(tmp_path)
    assert launch["params"] == ["b:01020304"] and launch["grid"] == [4, 2, 1] and launch["shared"] == 128
    assert "whose code was not seen" in events(tmp_path, "note")[0]["text"]
    patches.undo()
    assert not hasattr(Function()._launch_kernel, "__wrapped__") and len(events(tmp_path)) == 1


def test_memory_behind_pycuda_pointers_is_copied(tmp_path, monkeypatch):
    """Addresses are among the bytes of the parameters, at multiples of 8: the driver identifies them."""
    copied = []

    def contents(extents, most, stream):
        copied.append((list(extents), most, stream))
        return [(0x7F0000000000, memory.npy(b"abcd"))], ""

    monkeypatch.setenv("PTXAUDIT_DEBUG", "1")
    monkeypatch.setattr(pycuda, "is_pointer", lambda address: address >> 40 == 0x7F)
    monkeypatch.setattr(log, "contents", contents)
    recorder = Recorder()
    recorder.open(Log(str(tmp_path), arrays=64))
    launched = []
    function_type = type("Function", (), {"_launch_kernel": lambda self, *arguments: launched.append(arguments)})
    module_type = type("Module", (), {"get_function": lambda self, name: function_type()})
    driver = SimpleNamespace(
        Module=module_type, Function=function_type, module_from_buffer=lambda data, options=(): module_type()
    )
    pycuda.attach(driver, recorder, hooks.Patches())
    kernel = driver.module_from_buffer(CUBIN, options=[]).get_function("k")
    values = struct.pack("<QIIQ", 0x7F0000000000, 7, 9, 0x7F0000001000) + b"\x01\x02\x03"
    kernel._launch_kernel((4, 2), (32, 1, 1), values, 0, SimpleNamespace(handle=77))
    extents = [memory.Extent(0x7F0000000000), memory.Extent(0x7F0000001000)]
    assert copied == [(extents, 64, 77)] and launched == [((4, 2), (32, 1, 1), values, 0, launched[0][-1])]
    (launch,) = events(tmp_path)
    assert launch["params"] == ["b:" + values.hex()] and [at for at, _ in launch["memory"]] == [0x7F0000000000]


def test_numba_is_recorded_if_it_launches_through_cuda_core(recorder):
    def launch():
        pass

    launch.__module__ = "ptxaudit.ui.recording.inside.adapters.cuda_core"
    assert numba.attach(SimpleNamespace(launch=launch), recorder, None) is None
    launch.__module__ = "cuda.core._launcher"
    assert "before the recording began" in numba.attach(SimpleNamespace(launch=launch), recorder, None)
    assert "does not launch through cuda.core" in numba.attach(SimpleNamespace(), recorder, None)


def test_every_watched_module_has_an_adapter():
    names = {path.stem for path in (INSIDE / "adapters").glob("*.py")} - {"__init__"}
    assert names == set(ADAPTERS)
    assert all(re.fullmatch(r"[\w.]+", module) for module in adapters.WATCHED)
