"""The processing of a recording's log: code once, the launches of all processes, parameters.

Parameters are kept as far as the binary confirms them.
"""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import numpy as np
import pytest
from machine_code import from_ptx
from recorded import TRITON_CACHE, launches

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch_file import parsed, read_launches, string
from ptxaudit.ir import nodes as ir
from ptxaudit.ui.recording.finish import Recording, finish, prepared, shown, slug, summary
from ptxaudit.ui.recording.inside.log import Code, Log, Site
from ptxaudit.ui.recording.inside.memory import npy

CUBIN = (TRITON_CACHE / "transpose" / "transpose.cubin").read_bytes()
PTX = (TRITON_CACHE / "transpose" / "transpose.ptx").read_text()
# transpose(x, y, n, scale), and two pointers to scratch memory
KINDS, VALUES = ("p", "p", "i32", "f32"), (0x7F0000001000, 0x7F0000002000, 128, 0.5)


def code(data=CUBIN, **more):
    return Code(data, ".cubin", "Triton", more.pop("kernel", "transpose"), **more)


def written(folder, times=1, grid=(4, 4, 1), kinds=KINDS, values=VALUES, code=code(), kernel="transpose", **more):
    """A launch, logged as by a process."""
    log = more.pop("log", None) or Log(folder)
    site = Site(code, kernel, kinds, (128, 1, 1), None, 4096)
    for _ in range(times):
        log.done(log.begin(site, grid, values, **more))
    return log


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "r"


def test_recorded_launch_with_its_code_is_audited(folder):
    raw = prepared(str(folder))
    written(raw, 3, code=code(ptx=PTX.encode(), source="// cuda"))
    result = finish(raw, str(folder), "python t.py")
    assert result == Recording(str(folder), launches=1, times=3, kernels=1)
    (stem,) = {path.stem for path in (folder / "code").iterdir()}
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*")) == [
        f"code/{stem}.cubin",
        f"code/{stem}.ptx",
        "recorded.toml",
        f"sources/{stem}.cu",
    ]
    assert stem.startswith("transpose-") and not Path(raw).exists()
    (launch,) = launches(folder)
    assert launch == {
        "kernel": "transpose",
        "code": f"code/{stem}.cubin",
        "count": 3,
        "grid": [4, 4, 1],
        "block": [128, 1, 1],
        "dynamic_shared": 4096,
        "params": [0x7F0000001000, 0x7F0000002000, 128, 0.5, "?", "?"],
    }
    text = (folder / "recorded.toml").read_text()
    assert (
        'command = "python t.py"' in text
        and "0x7f0000001000, # 0" in text
        and "1 distinct launch of 3, of 1 kernel" in text
    )
    report = ptxaudit.audit(folder, isa="both")
    assert {entry.command for entry in report.inputs} == {"python t.py"}
    assert {(kernel.isa, str(site.status)) for kernel in report.kernels for site in kernel.sites} == {
        ("sass", "exact"),
        ("ptx", "exact"),
    }


def test_launches_of_all_processes_are_merged(folder):
    raw = prepared(str(folder))
    written(raw, 2)
    written(raw, 3, values=(0x7F5500001000, 0x7F5500002000, 128, 0.5))  # the same, but for addresses
    written(raw, 1, grid=(8, 8, 1))
    result = finish(raw, str(folder))
    assert [(launch["count"], launch["grid"]) for launch in launches(folder)] == [(5, [4, 4, 1]), (1, [8, 8, 1])]
    assert (result.launches, result.times, result.kernels) == (2, 6, 1)


def test_code_that_is_only_compiled_is_recorded(folder):
    raw = prepared(str(folder))
    Log(raw).compiled(code())
    result = finish(raw, str(folder), "make")
    assert (result.launches, result.compiled, launches(folder)) == (0, 1, [])
    assert summary(result) == "1 file of code was compiled and not launched"
    report = ptxaudit.audit(folder)
    assert [kernel.launch for kernel in report.kernels] == [None] and report.inputs[0].command == "make"


def test_second_recording_replaces_the_first(folder):
    raw = prepared(str(folder))
    written(raw)
    finish(raw, str(folder))
    first = set((folder / "code").iterdir())
    raw = prepared(str(folder))
    written(raw, code=code((TRITON_CACHE / "both_ways" / "both_ways.cubin").read_bytes()), kernel="both_ways", kinds=())
    finish(raw, str(folder))
    assert not first & set((folder / "code").iterdir()) and [one["kernel"] for one in launches(folder)] == ["both_ways"]


def test_folder_with_other_files_is_not_overwritten(folder):
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="this folder contains something else"):
        prepared(str(folder))
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["file/below", "x" * 10_000, "\0"])
def test_unwritable_recording_folder_is_rejected(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises((InputError, ValueError), match="cannot be written there|null"):
        prepared(str(tmp_path / name))


# --- mismatches --------------------------------------------------------------------------------------


def test_launch_of_a_kernel_missing_from_its_code_is_noted(folder):
    raw = prepared(str(folder))
    written(raw, kernel="other")
    result = finish(raw, str(folder))
    assert result.empty and result.notes == (
        "launches of other are not recorded: its code has no kernel with that name",
    )


def test_unreadable_code_is_noted(folder):
    raw = prepared(str(folder))
    written(raw, code=code(b"\x7fELF nothing"))
    result = finish(raw, str(folder))
    assert result.launches == 0 and any("code of Triton cannot be read" in note for note in result.notes)


@pytest.mark.parametrize(
    ("kinds", "values", "params"),
    [
        (
            ("p", "p", "i64", "f32"),
            (1, 2, 3, 0.5),
            [1, 2, 3, 0.5],
        ),  # a parameter is the first bytes of its argument
        (("p", "p", "i8", "f64"), (1, 2, 3, 0.5), [1, 2, "?", 0.0]),
        (("p", "i32"), (1, 5), [1, "?", "?", "?"]),  # half a pointer
        (("p", "?0", "i32"), (1, None, 5), [1, "?", 5, "?"]),
        (
            ("b", "b", "b", "b"),
            (b"\1" * 8, b"\2" * 3, b"\3" * 4, b"\0\0\x80\x7f"),
            [0x0101010101010101, "020202" + "??" * 5, "03030303", "0000807f"],
        ),
        (("p", "p", "f32", "f32"), (1, 2, float("nan"), float("-inf")), [1, 2, "0000c07f", "000080ff"]),
    ],
)
def test_parameters_are_recorded_if_the_binary_agrees(folder, kinds, values, params):
    raw = prepared(str(folder))
    written(raw, kinds=kinds, values=values)
    finish(raw, str(folder))
    assert launches(folder)[0]["params"] == [*params, "?", "?"]
    (launch,) = read_launches(folder / "recorded.toml")
    assert not ptxaudit.audit(folder).problems and launch.params is not None


def test_excess_parameters_are_not_recorded(folder):
    raw = prepared(str(folder))
    written(raw, kinds=("i32",) * 9, values=range(9))
    result = finish(raw, str(folder))
    assert "params" not in launches(folder)[0]
    assert result.notes == ("parameters of transpose are not recorded: 9 were seen, but it has 6",)


@pytest.mark.parametrize(("size", "fits"), [(40, True), (48, True), (39, False)])
def test_parameters_passed_in_one_buffer_are_split(folder, size, fits):
    raw = prepared(str(folder))
    buffer = (1).to_bytes(8, "little") + (2).to_bytes(8, "little") + b"\x80\0\0\0" + b"\0\0\0\x3f" + bytes(24)
    written(raw, kinds=("b",), values=(buffer[:size],))
    finish(raw, str(folder))
    expected = [1, 2, "80000000", "0000003f", 0, 0] if fits else None  # the binary tells which are pointers
    assert launches(folder)[0].get("params") == expected


def parameter_text(text, mangled, size, type=""):
    function = ir.Function(mangled, "sass", "sm_90", (), parameters=(ir.Parameter("p", 0, size, type),))
    return shown(text, function, 0)


@pytest.mark.parametrize(
    ("text", "mangled", "size", "type", "written"),
    [
        ("b:05000000", "_Z1ki", 4, "", "5"),
        ("b:fbffffff", "_Z1ki", 4, "", "-5"),
        ("b:0000003f", "_Z1kf", 4, "", "0.5"),
        ("b:00104a2c7f000000", "_Z1kPf", 8, "", "0x7f2c4a1000"),
        ("b:0000000000000000", "_Z1kPf", 8, "", "0"),
        ("b:0000000000000440", "_Z1kd", 8, "", "2.5"),
        ("b:ff", "_Z1kb", 1, "", "-1"),
        ("b:0102030405060708090a0b0c", "_Z1k5Shape", 12, "", '"0102030405060708090a0b0c"'),
        ("p:00104a2c7f00000007000000", "_Z1k5Shape", 12, "", '"00104a2c7f00000007000000"'),
        ("i:05000000", "k", 4, ".u32", "5"),
        ("f:0000003f", "k", 4, ".f32", "0.5"),
        ("i:ffffffffffffffff", "k", 8, ".u64", "-1"),
        ("?:128", "k", 128, ".b8", '"?"'),
        ("f:003e", "k", 2, "", '"003e"'),
    ],
)
def test_parameter_as_text(text, mangled, size, type, written):
    assert parameter_text(text, mangled, size, type) == written


# --- damaged logs ------------------------------------------------------------------------------------


def test_truncated_log_line_is_skipped(folder):
    raw = prepared(str(folder))
    written(raw)
    (events,) = Path(raw).glob("*.jsonl")
    events.write_text("\n" + events.read_text() + '{"event": "launch", "slot": 1, "kern')
    assert finish(raw, str(folder)).launches == 1


@pytest.mark.parametrize(
    "event",
    [
        {"event": "launch"},
        {"event": "launch", "slot": 10**9, "code": "x.cubin", "kernel": "k"},
        {"event": "start", "format": 2},
        {"event": "note", "text": 7},
        {"event": "code", "code": 7},
        {"event": "more", "slot": -5, "module": 7, "kernel": "k"},
        {"event": "launch", "slot": 1, "kernel": "k", "module": 3, "shared": 0, "grid": [1]},
        {"event": "strange"},
        {"event": "module", "module": 1, "file": "gone.cubin"},
    ],
)
def test_invalid_log_line_is_skipped(folder, event):
    raw = prepared(str(folder))
    log = written(raw)
    log._write(event)
    written(raw, log=log, grid=(9, 9, 1))
    assert finish(raw, str(folder)).launches == 2


def test_launches_without_counts_are_dropped(folder):
    raw = prepared(str(folder))
    written(raw)
    for file in Path(raw).glob("counts-*"):
        file.unlink()
    assert finish(raw, str(folder)).launches == 0


def test_full_disk_leaves_the_log(folder, monkeypatch):
    raw = prepared(str(folder))
    written(raw)

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(InputError, match="No space left on device") as caught:
        finish(raw, str(folder))
    assert raw in caught.value.hint and Path(raw).exists()


# --- names -------------------------------------------------------------------------------------------

NAMES = {"long": "k" * 10_000, "escapes": 'k$\x1b[2J"\\\n# x', "a pattern": "k*[?]"}


@pytest.mark.parametrize("kind", NAMES)
def test_kernel_names_are_written_as_valid_toml(folder, kind, monkeypatch):
    name = NAMES[kind]
    function = ir.Function(name, "sass", "sm_90", (), entry=True)
    monkeypatch.setattr(
        "ptxaudit.ui.recording.finish.kernels_of", lambda *given: [type("Listed", (), {"function": function})]
    )
    raw = prepared(str(folder))
    written(raw, kernel=name, kinds=())
    result = finish(raw, str(folder), "python 'x\x1b[2J\n[[launch]]'")
    (launch,) = read_launches(folder / "recorded.toml")
    assert launch.matches(name) and not launch.matches("kx") and result.launches == 1
    assert parsed(folder / "recorded.toml")[0]["command"] == r"python 'x\x1b[2J\x0a[[launch]]'"
    (file,) = (folder / "code").iterdir()
    assert len(file.name) < 64 and file.name.replace("-", "").replace("_", "").replace(".", "").isalnum()


def test_toml_strings_are_escaped():
    import tomllib

    text = "".join(map(chr, range(0x20))) + '"\\\x7f\u2028é'
    assert tomllib.loads(f"a = {string(text)}") == {"a": text}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("_ZN2ns4gemmIfLi8EEEvPf", "gemm"),
        ("k", "k"),
        ("\x1b", "kernel"),
        ("a" * 99, "a" * 40),
        ("../../etc", "etc"),
    ],
)
def test_file_name_derived_from_a_kernel_name(name, file):
    assert slug(name) == file


# --- arrays ------------------------------------------------------------------------------------------


def test_arrays_with_equal_names_are_distinguished_by_content(folder):
    """Two processes may have given their files the same names."""
    raw = prepared(str(folder))
    log = Log(raw)
    for at, first in enumerate((3, 5)):
        data = npy(np.arange(first, first + 4, dtype="<i4").tobytes(), "<i4")
        (Path(raw) / f"driver-588-1{at}.npy").write_bytes(data)
        site = Site(code(), "transpose", KINDS, (128, 1, 1))
        token = log.begin(site, (at + 1, 1, 1), VALUES)
        token.launch["memory"] = [[0x7F0000001000, f"driver-588-1{at}.npy"]]
        log.done(token)
    finish(raw, str(folder))
    found = [launch.memory[0].data.view("<i4")[0] for launch in read_launches(folder / "recorded.toml")]
    assert found == [3, 5]


# --- through the driver ------------------------------------------------------------------------------

KERNEL = """.visible .entry k(.param .u64 p, .param .u32 n) {{ .reg .b64 %d<2>; .reg .b32 %r<{registers}>; .shared .b32 s[{size}];
ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; st.shared.b32 [s], %r1; st.global.b32 [%d1], %r1; ret; }}
"""


def driver_events(raw, events, counts):
    (Path(raw) / "driver-1.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    (Path(raw) / "driver-1-counts.bin").write_bytes(array("Q", counts).tobytes())


def launch_event(slot, **more):
    fixed = {"event": "launch", "slot": slot, "kernel": "k", "grid": [slot, 1, 1], "block": [32, 1, 1], "shared": 0}
    return fixed | {"params": ["p:0010000000000000", "b:05000000"], "module": 0} | more


START = {"event": "start", "format": 1, "counts": "driver-1-counts.bin"}


def modules(raw, *sizes):
    """Modules that each have a kernel of the same name, and differ."""
    out = []
    for number, size in enumerate(sizes, 1):
        (Path(raw) / f"m{number}.cubin").write_bytes(from_ptx(KERNEL.format(registers=2, size=size)))
        out.append({"event": "module", "module": number, "file": f"m{number}.cubin"})
    return out


def test_launch_belongs_to_the_module_named_by_the_driver(folder):
    raw = prepared(str(folder))
    driver_events(raw, [START, *modules(raw, 32, 64), launch_event(1, module=2), launch_event(2, module=1)], [0, 1, 1])
    finish(raw, str(folder))
    report = ptxaudit.audit(folder)
    assert sorted((kernel.launch.grid[0], kernel.shared_static) for kernel in report.kernels) == [(1, 256), (2, 128)]


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ({}, None),
        ({"among": [2]}, 256),
        ({"among": []}, None),
        ({"registers": 250}, None),
    ],
)
def test_launch_of_an_unknown_module_is_recorded_if_only_one_is_left(folder, event, found):
    raw = prepared(str(folder))
    driver_events(raw, [START, *modules(raw, 32, 64), launch_event(1, **event)], [0, 1])
    result = finish(raw, str(folder))
    if found is None:
        assert not result.launches and "a launch of k is not recorded" in result.notes[0]
    else:
        assert [kernel.shared_static for kernel in ptxaudit.audit(folder).kernels] == [found]


def test_equal_and_unloaded_modules_are_resolved(folder):
    raw = prepared(str(folder))
    unload = {"event": "unload", "module": 1}
    driver_events(raw, [START, *modules(raw, 32, 32), launch_event(1)], [0, 4])
    assert finish(raw, str(folder)).launches == 1
    raw = prepared(str(folder))
    driver_events(raw, [START, *modules(raw, 32, 64), unload, launch_event(1)], [0, 4])
    finish(raw, str(folder))
    assert [kernel.shared_static for kernel in ptxaudit.audit(folder).kernels] == [256]


def test_launch_seen_by_python_is_not_duplicated_by_the_driver(folder):
    raw = prepared(str(folder))
    written(raw, 2)
    (Path(raw) / "t.cubin").write_bytes(CUBIN)
    module = {"event": "module", "module": 1, "file": "t.cubin"}
    driver_events(raw, [START, module, launch_event(1, kernel="transpose", module=1)], [0, 2])
    finish(raw, str(folder))
    (launch,) = launches(folder)
    assert launch["count"] == 2 and launch["grid"] == [4, 4, 1]


def test_launch_dropped_by_python_is_not_recounted_by_the_driver(folder):
    """Both recorders keep one launch of eight; the driver alone keeps one of three launches of another kernel."""
    raw = prepared(str(folder))
    log = Log(raw, most=1)
    for number in range(8):
        written(raw, log=log, values=(0, 0, number, 0.5))
    (Path(raw) / "t.cubin").write_bytes(CUBIN)
    module = {"event": "module", "module": 1, "file": "t.cubin"}
    own = {"event": "module", "module": 2, "file": "m1.cubin"}
    modules(raw, 32)
    launched = [launch_event(1, kernel="transpose", module=1), launch_event(3, module=2)]
    more = [
        {"event": "more", "slot": slot, "kernel": name, "module": of}
        for slot, name, of in ((2, "transpose", 1), (4, "k", 2))
    ]
    driver_events(raw, [START, module, own, *launched, *more], [0, 1, 7, 1, 2])
    result = finish(raw, str(folder))
    assert (result.launches, result.times, result.left_out) == (2, 2, 7 + 2)
    text = (folder / "recorded.toml").read_text()
    assert "# not kept: 7 launches of transpose" in text and "# not kept: 2 launches of k" in text


def test_dropped_launches_are_counted(folder):
    raw = prepared(str(folder))
    log = Log(raw, most=1)
    for number in range(5):
        written(raw, log=log, values=(0, 0, number, 0.5))
    result = finish(raw, str(folder))
    assert (result.launches, result.times, result.left_out) == (1, 1, 4)
    assert summary(result) == "1 distinct launch of 5, of 1 kernel"
    assert "# not kept: 4 launches of transpose (transpose-" in (folder / "recorded.toml").read_text()
