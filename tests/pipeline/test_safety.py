"""Untrusted inputs: none runs a program, reads another file, exhausts a resource, or disappears silently.

docs/security.md lists the guarantees; each has a test here, in test_interrupts or in test_mutations.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import stat
import struct
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import run as in_this_process
from kernels import COLUMN, PTX
from machine_code import from_cuda
from paths import ROOT

import ptxaudit
from ptxaudit.base import limits, private
from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import Limit
from ptxaudit.frontend.artifacts import container, embedded
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.sass import lift
from ptxaudit.report.reader import json_of
from ptxaudit.review import result_cache
from ptxaudit.ui.cli import main

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
SOON = 20.0  # seconds of processor time: far more than any of these takes


def ptx(body: str = "", outside: str = "", parameters: str = "", bounds: str = "") -> str:
    """A kernel with one access to shared memory after `body`."""
    return (
        f"{HEAD}{outside}.visible .entry k({parameters}){bounds}{{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred"
        f" %q<4>;\n.shared .align 4 .b8 s[64];\n{body}\nst.shared.u32 [s],%r1;\nret;\n}}\n"
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result_cache._opened.cache_clear()
    yield tmp_path
    result_cache._opened.cache_clear()


def run(*words: str, timeout: float = 120) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "ptxaudit", *words],
        capture_output=True,
        timeout=timeout,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def problems(text: str, **options) -> list[str]:
    return [problem.what for problem in ptxaudit.audit(text, **options).problems]


# --- execution ----------------------------------------------------------------------------------

# each is complete by itself: in a row, one could hide another from a shell
PROGRAMS = ("$(touch P)", "`touch P`", "$(touch${IFS}P)", '"; touch P; "', "';touch P;'", "\\$(touch P)")
DEFINED = [f"X{at}={word}" for at, word in enumerate(PROGRAMS)]
NAMED = "".join(word for word in PROGRAMS if '"' not in word)


@pytest.mark.parametrize("way", ["setting", "option", "compile_commands", "name", "folder"])
def test_text_of_an_input_is_not_executed(here, way):
    """nvcc passes its arguments to a shell."""
    name = "k.cu"
    words = ["audit", "--compiler", "nvcc"]
    if way == "setting":
        (here / "ptxaudit.toml").write_text(f"defines = {json.dumps(DEFINED)}\n")
    elif way == "option":
        words += [word for define in DEFINED for word in ("-D", define)]
    elif way == "compile_commands":
        arguments = ["nvcc", *(f"-D{define}" for define in DEFINED), *(f"-I{word}" for word in PROGRAMS), "k.cu"]
        (here / "c.json").write_text(json.dumps([{"directory": str(here), "file": "k.cu", "arguments": arguments}]))
        words += ["--compile-commands", "c.json"]
    elif way == "name":
        name = f"a{NAMED}.cu"
    else:
        (here / NAMED).mkdir()
        name = f"{NAMED}/k.cu"
    (here / name).write_text(COLUMN)
    done = CliRunner().invoke(main, [*words, name])
    assert done.exit_code == 0, done.output
    assert not list(here.rglob("P"))


@pytest.mark.parametrize("name", ['a"; touch P; ".cu', '"; touch P; "/k.cu'])
def test_file_name_unsafe_for_nvcc_is_rejected(here, name):
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).write_text(COLUMN)
    done = CliRunner().invoke(main, ["audit", "--compiler", "nvcc", name])
    assert done.exit_code == 2 and "nvcc cannot take a file of this name" in done.output
    assert not list(here.rglob("P"))


def test_implicit_settings_cannot_select_nvcc(here):
    (here / "ptxaudit.toml").write_text('compiler = "nvcc"\n')
    (here / "k.cu").write_text(COLUMN)
    done = CliRunner().invoke(main, ["audit", "k.cu"])
    assert done.exit_code == 2 and "may not select nvcc" in done.output
    assert CliRunner().invoke(main, ["audit", "k.cu", "--compiler", "nvrtc"]).exit_code == 0


def test_programs_in_the_working_folder_are_not_executed(here):
    for folder in ("nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "bin", "."):
        (here / folder).mkdir(parents=True, exist_ok=True)
        for tool in ("nvdisasm", "cuobjdump", "ptxas", "nvcc"):
            (here / folder / tool).write_text(f"#!/bin/sh\ntouch {here}/P\n")
            (here / folder / tool).chmod(0o755)
    (here / "click.py").write_text("open('P', 'w')\n")
    (here / "k.cubin").write_bytes(from_cuda(COLUMN))
    done = run("audit", "k.cubin", "--no-cache")
    assert done.returncode == 0 and not (here / "P").exists(), done.stderr


# --- files that inputs name ---------------------------------------------------------------------


def with_file(path: str) -> str:
    return ptx(".loc 1 1 1", f'.file 1 "{path}"\n')


def test_source_that_is_a_device_pipe_or_elsewhere_is_not_read(here, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret.cu"
    elsewhere.write_text("the secret\n")
    os.mkfifo(here / "pipe.cu")
    (here / "link.cu").symlink_to(elsewhere)
    (here / "own.cu").write_text("my line\n")
    began = time.process_time()
    for path, text in (
        ("/dev/zero", None),
        (str(here / "pipe.cu"), None),
        ("/etc/hostname", None),
        (str(elsewhere), None),
        (str(here / "link.cu"), None),
        (str(here / "own.cu"), "my line"),
    ):
        report = ptxaudit.audit(with_file(path))
        assert [site.source.text for site in report.sites] == [text], path
    assert (
        ptxaudit.audit(with_file(str(elsewhere)), source_root=(str(elsewhere.parent),)).sites[0].source.text
        == "the secret"
    )
    assert time.process_time() - began < SOON


def test_source_beyond_the_limit_is_not_shown(here, monkeypatch):
    (here / "k.cu").write_text("line\n" * 100)
    monkeypatch.setattr(limits, "SHOWN", replace(limits.SHOWN, most=99))
    assert ptxaudit.audit(with_file(str(here / "k.cu"))).sites[0].source.text is None


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "pipe"],
        ["audit", "k.ptx", "--launch", "pipe"],
        ["audit", "k.ptx", "--config", "pipe"],
        ["audit", "k.ptx", "--baseline", "pipe"],
        ["diff", "pipe", "pipe"],
        ["audit", "k.ptx", "--compile-commands", "pipe"],
    ],
    ids=lambda words: words[-2],
)
def test_named_pipe_is_rejected(here, words):
    def waits(number, frame):
        raise AssertionError(f"{words} waits for a pipe")

    os.mkfifo(here / "pipe")
    (here / "k.ptx").write_text(PTX)
    before = signal.signal(signal.SIGALRM, waits)
    signal.alarm(60)
    try:
        assert "named pipe" in in_this_process(*words, status=2).output
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# --- what is kept between runs ------------------------------------------------------------------


class Planted:
    def __reduce__(self):
        return os.mkdir, ("P",)


@pytest.mark.parametrize("row", [b"pickle", b"zlib", b"[1, 2]", b'{"inputs": [[1]]}', b"\xff" * 9])
def test_planted_cache_row_executes_nothing(here, row):
    import pickle

    (here / "k.ptx").write_text(PTX)
    first = ptxaudit.audit(["k.ptx"], cache=True)
    value = {b"pickle": pickle.dumps(Planted()), b"zlib": zlib.compress(pickle.dumps(Planted()))}.get(
        row, zlib.compress(row)
    )
    store = result_cache._opened()
    store._rows.execute("UPDATE kept SET value = ?", (value,))
    assert ptxaudit.audit(["k.ptx"], cache=True) == first
    assert not (here / "P").exists()


def test_cache_folder_writable_by_others_is_not_used(here):
    (here / "k.ptx").write_text(PTX)
    kept = here / "cache" / "ptxaudit" / "results"
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    assert private.folder("results") is None
    assert ptxaudit.audit(["k.ptx"], cache=True).sites and not list(kept.iterdir())
    kept.chmod(0o700)
    (here / "cache").chmod(0o777)  # who can write there could replace the folder
    assert private.folder("results") is None
    (here / "cache").chmod(0o755)
    assert private.folder("results") == kept and stat.S_IMODE(kept.stat().st_mode) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder another user's")
def test_cache_folder_of_another_user_is_not_used(here):
    kept = here / "cache" / "ptxaudit" / "results"
    kept.mkdir(parents=True, mode=0o700)
    os.chown(kept, 12345, 12345)
    assert private.folder("results") is None


def test_only_audit_workers_unpickle():
    """Only processes of one audit exchange pickles."""
    users = {
        path.name
        for path in (ROOT / "ptxaudit").rglob("*.py")
        if "import pickle" in path.read_text() or "marshal" in path.read_text()
    }
    assert users == {"pool.py", "pool_worker.py"}


# --- work outside every budget ------------------------------------------------------------------

DIGITS = "9" * 5_000
TOO_MUCH = {
    "braces": (ptx("{\n" * 500 + "}\n" * 500), "nesting"),
    "braces on a line": (ptx("{" * 500 + "}" * 500), "nesting"),
    "braces that stay open": (ptx("{\n" * 500), "nesting"),
    "brackets": (ptx("ld.shared.u32 %r1," + "[" * 500 + "s" + "]" * 500 + ";"), "nesting"),
    "signs": (ptx("mov.u32 %r1," + "-" * 5_000 + "1;"), "nesting"),
    "a sum": (ptx("mov.u32 %r1," + "1+" * 5_000 + "3;"), "nesting"),
    "a choice": (ptx("mov.u32 %r1," + "1?2:" * 5_000 + "3;"), "nesting"),
    "an initial value": (ptx("", ".global .u32 g[1]={" + "{" * 500 + "1" + "}" * 500 + "};\n"), "nesting"),
    "digits": (ptx(f"mov.u32 %r1,{DIGITS};"), "integer"),
    "digits of a size": (ptx("", f".global .b8 g[{DIGITS}];\n"), "integer"),
    "digits of a place": (ptx(f"ld.shared.u32 %r1,[s+{DIGITS}];"), "integer"),
    "digits of a line": (ptx(f".loc 1 {DIGITS} 1"), "integer"),
    "hexadecimal digits": (ptx("mov.u32 %r1,0x" + "f" * 50_000 + ";"), "integer"),
    "a parameter of a function": (ptx("", ".func f(.param .b8 a[1000000000]){ret;}\n"), "parameter"),
    "a parameter of a call": (ptx("{ .param .b8 a[1000000000]; st.param.b32 [a],%r1; }"), "parameter"),
    "a parameter of a kernel": (ptx(parameters=".param .b8 a[1000000000]"), "parameter"),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_input_beyond_a_limit_is_one_message(what):
    text, limit = TOO_MUCH[what]
    began = time.process_time()
    (problem,) = ptxaudit.audit(text).problems
    assert f"(the limit `{limit}`)" in problem.what and problem.line and "docs/security.md" in problem.hint
    assert time.process_time() - began < SOON


def test_parameters_are_limited_in_total():
    text = ptx("\n".join(f"{{ .param .b8 a{i}[60000]; st.param.b32 [a{i}],%r1; }}" for i in range(100)))
    began = time.process_time()
    (problem,) = ptxaudit.audit(text).problems
    assert "the parameters of functions and calls takes more than 1,073,741,824 bytes" in problem.what
    assert time.process_time() - began < SOON


@pytest.mark.parametrize("size", [1_500_000_000, 1_500_000_000_000])
def test_initial_value_beyond_the_limit_is_skipped(size):
    report = ptxaudit.audit(
        ptx(
            "mov.u64 %rd1,g; ld.global.u8 %r1,[%rd1]; cvt.u64.u32 %rd2,%r1; st.shared.u32 [s],%r1;",
            f".global .b8 g[{size}] = {{1}};\n",
        )
    )
    assert report.problems == () and len(report.sites) == 2
    assert any(
        "initial value of g is skipped" in sentence and "the limit `initial data`" in sentence
        for sentence in report.kernels[0].notes
    )


BRX = "\n".join(
    [
        "ld.param.u32 %r1,[p];",
        *(
            f"A{j}: mov.u32 %r2,%tid.x;\nts{j}: .branchtargets {','.join(f'L{i}' for i in range(16))};\nbrx.idx"
            f" %r{1 + j % 2}, ts{j};"
            for j in range(8)
        ),
        *(f"L{i}: st.shared.u8 [s+{i}],%r1;\nbra A{(i + 1) % 8};" for i in range(16)),
    ]
)


def irreducible(size: int) -> str:
    """Every block branches to two others: no loop has a single entry."""
    rng = random.Random(1)
    return "ld.param.u32 %r1,[p];\n" + "\n".join(
        f"B{i}: add.u32 %r1,%r1,%r2; setp.lt.u32 %q1,%r1,{i}; @%q1 bra B{rng.randrange(size)}; st.shared.u32 [s],%r1;"
        f" bra B{rng.randrange(size)};"
        for i in range(size)
    )


@pytest.mark.parametrize(
    "launches", [(), (ptxaudit.Launch("*", grid=1, block=32, params=[3]),)], ids=["not specified", "told"]
)
@pytest.mark.parametrize(
    "body", [BRX, irreducible(60), irreducible(100)], ids=["brx.idx", "irreducible", "irreducible, 7 kB"]
)
def test_irreducible_code_stays_within_its_budget(body, launches):
    began = time.process_time()
    report = ptxaudit.audit(ptx(body, parameters=".param .u32 p"), launches=launches, budget=0.25)
    assert time.process_time() - began < SOON and report.every_site
    assert all(site.status != "exact" or site.requests is not None for site in report.sites)


SMALL = Limit("unpacked", 1 << 20, "bytes", "")


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


@pytest.mark.parametrize("packed", [zlib.compress, zstd])
def test_decompression_bomb_is_rejected(monkeypatch, packed):
    monkeypatch.setattr(embedded, "UNPACKED", SMALL)
    with pytest.raises(InputError, match="the limit `unpacked`"):
        embedded.unpacked(packed(bytes(SMALL.most + 1)), "bomb")
    assert embedded.unpacked(packed(bytes(SMALL.most)), "no bomb") == bytes(SMALL.most)


def test_compressed_section_beyond_the_limit_is_rejected(monkeypatch):
    """An ELF section with compression: the header states the size, which may be wrong."""
    from ptxaudit.frontend.artifacts import elf

    monkeypatch.setattr(elf, "UNPACKED", SMALL)

    class Section(dict):
        name = ".nv_debug_ptx_txt"

    def section(said: int, true: int) -> Section:
        data = struct.pack("<IIQQ", 1, 0, said, 1) + zlib.compress(bytes(true))
        found = Section(sh_type="SHT_PROGBITS", sh_flags=0x800, sh_offset=0, sh_size=len(data))
        found.stream = io.BytesIO(data)
        return found

    with pytest.raises(InputError, match="the limit `unpacked`"):
        elf.content(section(1 << 40, 10), "k.cubin")
    with pytest.raises(InputError, match="does not have the bytes"):
        elf.content(section(100, 1 << 24), "k.cubin")
    assert elf.content(section(100, 100), "k.cubin") == bytes(100)


def test_text_is_searched_in_linear_time():
    for text in (("/**/" * 60_000) + "x", "/*" * 50_000, ".version 8.0\n.target sm_90\n" * 40_000):
        began = time.process_time()
        try:
            ptxaudit.audit([text.encode() + b"\n"])
        except InputError:
            pass
        list(embedded.pieces(memoryview(text.encode())))
        assert time.process_time() - began < SOON


# --- a fault affects nothing else ---------------------------------------------------------------

TWO = (
    'extern "C" __global__ void one(float* a) { __shared__ float s[64]; s[threadIdx.x] = a[0]; __syncthreads(); a[1] ='
    ' s[1]; }\nextern "C" __global__ void two(float* a) { __shared__ float s[64]; s[threadIdx.x] = a[2];'
    " __syncthreads(); a[3] = s[3]; }\n"
)


def test_fault_in_one_function_leaves_the_others(here, monkeypatch):
    (here / "k.cubin").write_bytes(compile_source(TWO).cubin)
    lifted = lift.lift_function

    def odd(cubin, sections, *rest):
        if sections[0].name == "one":
            raise ValueError("no such operand")
        return lifted(cubin, sections, *rest)

    monkeypatch.setattr(lift, "lift_function", odd)
    report = ptxaudit.audit("k.cubin")
    assert [kernel.name for kernel in report.kernels] == ["two"]
    assert ["one" in problem.what for problem in report.problems] == [True]


def fat_binary(*images: tuple[int, bytes]) -> bytes:
    """A fat binary of uncompressed entries. kind: 1 is PTX, 2 a cubin."""
    body = b""
    for kind, payload in images:
        payload += bytes(-len(payload) % 8 or 8 * (kind == 1))
        body += struct.pack("<HHIQ12xI8xQ16x", kind, 0x101, 64, len(payload), 90, 0x11) + payload
    return struct.pack("<4sHHQ", container.FATBIN_MAGIC, 1, 16, len(body)) + body


def test_deeply_nested_image_leaves_the_others(here):
    images = [(1, text.encode()) for text in (ptx(), TOO_MUCH["braces"][0], ptx().replace(" k(", " other("))]
    (here / "k.fatbin").write_bytes(fat_binary(*images))
    report = ptxaudit.audit("k.fatbin")
    assert [kernel.name for kernel in report.kernels] == ["k", "other"]
    assert ["the limit `nesting`" in problem.what for problem in report.problems] == [True]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "html", "github", "gitlab", "junit", "markdown"])
def test_file_name_that_is_not_utf8_is_audited(here, form):
    name = os.fsdecode(b"\xff\xfe.ptx")
    (here / name).write_text(PTX)
    command = ("audit", name, "-o", "out", "--format", form, "--no-cache")
    in_this_process(*command, "--jobs", "1")
    text = (here / "out").read_text(encoding="utf-8")
    assert text
    if form == "json":  # it has all that the other formats show: only this one is also made in other processes
        assert json.loads(text)["kernels"]
        in_this_process(*command, "--jobs", "2")
        assert (here / "out").read_text(encoding="utf-8") == text
        assert run(*command).returncode == 0 and (here / "out").read_text(encoding="utf-8") == text


# --- nothing is lost silently -------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, 12, 1.5, object(), [None], {}])
def test_object_of_unknown_type_raises(given):
    with pytest.raises(InputError, match="cannot be audited|there is no"):
        ptxaudit.audit(given)


def test_missing_inputs_raise(here):
    for given in ("nosuch.cu", ["nosuch.cu", "neither.ptx"], [], b"", Path("nosuch.cubin")):
        with pytest.raises(InputError):
            ptxaudit.audit(given)


def test_missing_input_among_several_is_a_problem(here):
    (here / "k.ptx").write_text(PTX)
    report = ptxaudit.audit(["k.ptx", "nosuch.cu"])
    assert report.kernels and len(report.problems) == 1
    with pytest.raises(InputError, match="nosuch.cu"):
        report.raise_for_problems()
    assert ptxaudit.audit("k.ptx").raise_for_problems().sites


def test_sites_of_an_empty_report_raise(here):
    (here / "empty.ptx").write_text(HEAD)
    report = ptxaudit.audit("empty.ptx")
    assert "there is no kernel in this" in report.problems[0].what
    with pytest.raises(InputError):
        all(site.excess == 0 for site in report.sites)
    assert CliRunner().invoke(main, ["audit", "empty.ptx"]).exit_code == 2


def cubin_and_places() -> tuple[bytes, dict[str, tuple[int, int, int]]]:
    """A cubin, and (header, begin, end) of each of its sections."""
    data = compile_source(TWO).cubin
    table, size, count, names = struct.unpack_from("<40xQ10xHHH", data, 0)
    rows = [struct.unpack_from("<IIQQQQ", data, table + size * number) for number in range(count)]
    strings = rows[names][4]
    out = {}
    for number, (name, _, _, _, offset, length) in enumerate(rows):
        end = data.index(b"\0", strings + name)
        out[data[strings + name : end].decode()] = table + size * number, offset, offset + length
    return data, out


def symbols(data: bytes, places: dict, name: str) -> list[int]:
    """Positions of the rows for a function in the symbol table."""
    _, begin, end = places[".symtab"]
    strings = places[".strtab"][1]
    found = []
    for at in range(begin, end, 24):
        start = strings + struct.unpack_from("<I", data, at)[0]
        if data[start : data.index(b"\0", start)] == name.encode() and data[at + 4] & 15 == 2:
            found.append(at)
    return found


DAMAGE = {
    "a kernel that is not marked as one": lambda data, places: {symbols(data, places, "one")[0] + 5: 0},
    "a symbol that is no function": lambda data, places: {symbols(data, places, "one")[0] + 4: 0x11},
    "a symbol of another section": lambda data, places: {symbols(data, places, "one")[0] + 6: 1},
    "a symbol that is too short": lambda data, places: {symbols(data, places, "one")[0] + 16: 16},
    "a symbol of another name": lambda data, places: {symbols(data, places, "one")[0]: 0},
    "code that is no code": lambda data, places: {places[".text.one"][0] + 8: 0},
    "code of no bytes": lambda data, places: {places[".text.one"][0] + 4: 8},
    "code that is too short": lambda data, places: {places[".text.one"][0] + 32: 16, places[".text.one"][0] + 33: 0},
    "code at another place": lambda data, places: {places[".text.one"][0] + 24: 0},
    "code of another name": lambda data, places: {places[".text.one"][0]: 0, places[".text.one"][0] + 1: 0},
    "a list of no function": lambda data, places: {places[".nv.info"][1] + 4: 0},
    "fewer sections": lambda data, places: {60: data[60] - 1},
    "no sections": lambda data, places: {60: 0},
    "another architecture": lambda data, places: {49: data[49] ^ 0xD0} if data[8] >= 8 else {48: data[48] ^ 10},
}


@pytest.mark.parametrize("what", DAMAGE)
def test_inconsistent_cubin_is_reported(here, what):
    data, places = cubin_and_places()
    (here / "k.cubin").write_bytes(data)
    before = ptxaudit.audit("k.cubin")
    assert not before.problems and len(before.kernels) == 2
    damaged = bytearray(data)
    for at, value in DAMAGE[what](data, places).items():
        damaged[at] = value
    (here / "k.cubin").write_bytes(damaged)
    done = CliRunner().invoke(main, ["audit", "k.cubin", "--strict", "--fail-on", "excess=1", "--no-cache"])
    assert done.exit_code == 2, done.output
    assert "error" in done.output


# --- output -------------------------------------------------------------------------------------

ESCAPE = "\x1b[31mred\x1b]0;title\x07"


def test_escape_sequences_are_not_sent_to_the_terminal(here):
    (here / "own.cu").write_text(f"line {ESCAPE}\n")
    name = f"a{ESCAPE.replace('/', '')}.ptx"
    (here / name).write_text(with_file("own.cu"))
    for words in (
        ["audit", name],
        ["audit", name, "--list"],
        ["explain", name, "own.cu:1"],
        ["launches", name],
        ["audit", f"no{name}"],
    ):
        done = CliRunner().invoke(main, words)
        assert "\x1b" not in done.output and "\x07" not in done.output, words


@pytest.mark.parametrize("form", ["github", "text", "gitlab", "markdown"])
def test_text_of_inputs_is_not_a_workflow_command(here, form):
    (here / "::error::hi.ptx").write_text(ptx("bad;", bounds=""))
    (here / "k.ptx").write_text(with_file("x\\012::set-output name=a::b.cu") + "::error::from the file\n")
    for name in ("::error::hi.ptx", "k.ptx"):
        done = CliRunner().invoke(main, ["audit", name, "--format", form])
        lines = [line for line in done.output.splitlines() if line.lstrip().startswith("::")]
        assert all(
            form == "github"
            and line.startswith(
                (
                    "::error file=",
                    "::warning file=",
                    "::notice file=",
                    "::error title=",
                    "::notice title=",
                    "::warning title=",
                )
            )
            and "::hi" not in line.split("::", 2)[1]
            for line in lines
        ), lines


def test_file_names_with_line_breaks_and_dashes_are_inputs(here):
    for name in ("a\nb.ptx", "-x.ptx"):
        (here / name).write_text(PTX)
        done = in_this_process("audit", name, "--format", "json", "--no-cache")
        assert len(json.loads(done.stdout)["inputs"]) == 1


# --- odd inputs that once were internal errors --------------------------------------------------

ODD = {
    "a predicate as a parameter": (ptx(parameters=".param .pred p"), "is of type .pred"),
    "a predicate as a parameter of a function": (ptx("", ".func f(.param .pred a){ret;}\n"), "is of type .pred"),
    "an address size": (ptx().replace("size 64", "size 641"), ".address_size is 641"),
    "a version": (ptx().replace("8.0", DIGITS + ".0"), "there is no PTX 999"),
    "a negative size": (ptx("", ".global .b8 g[-5];\n"), "fewer than none"),
    "a size beyond all addresses": (
        ptx("", ".const .b8 g[99999999999999999999] = {1};\n"),
        "more elements than there are addresses",
    ),
    "dimensions": (ptx("", ".global .b8 g" + "[1000]" * 300 + "={1};\n"), "more elements than there are addresses"),
    "a block": (ptx(bounds=".reqntid 99999,99999,99999 "), ".reqntid asks for"),
    "a register's number": (ptx(f"mov.u32 %r{DIGITS},1;"), "is not declared"),
    "more initial values than there is room for": (
        ptx("", ".global .b8 g[1][0][1000000000] = {{{1}}};\n"),
        "more elements than its variable",
    ),
}


@pytest.mark.parametrize("what", ODD)
def test_malformed_ptx_is_one_message(what):
    text, words = ODD[what]
    (problem,) = ptxaudit.audit(text).problems
    assert words in problem.what and problem.line and problem.hint


@pytest.mark.parametrize(
    "entry",
    [
        {"command": ["x"]},
        {"command": 5, "file": "k.cu"},
        {"file": ["k.cu"], "directory": "."},
        [],
        "x",
        None,
        {"file": "k.cu", "arguments": "nvcc"},
    ],
)
def test_malformed_compile_commands_are_one_message(here, entry):
    (here / "c.json").write_text(json.dumps([entry]))
    (here / "k.ptx").write_text(PTX)
    done = CliRunner().invoke(main, ["audit", "k.ptx", "--compile-commands", "c.json"])
    assert done.exit_code == 2 and "c.json" in done.output and "failed here" not in done.output, done.output


def _npy(header: bytes) -> bytes:
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header


NPY = {
    "an .npz": lambda path: np.savez(path.open("wb"), a=np.arange(4)),
    "objects": lambda path: np.save(path.open("wb"), np.array([{}], dtype=object), allow_pickle=True),
    "a huge header": lambda path: path.write_bytes(
        _npy(b"{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }" + b" " * 20_000_000 + b"\n")
    ),
    "a shape beyond the file": lambda path: path.write_bytes(
        _npy(b"{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999,), }\n")
    ),
    "no header": lambda path: path.write_bytes(_npy(b"import os\n")),
    "nothing": lambda path: path.write_bytes(b""),
    "a cut": lambda path: path.write_bytes(b"\x93NUMPY\x02"),
}


@pytest.mark.parametrize("what", NPY)
def test_malformed_array_is_one_message(here, what):
    NPY[what](here / "a.npy")
    (here / "k.ptx").write_text(PTX)
    (here / "l.toml").write_text('[[launch]]\nkernel = "*"\ngrid = 1\nblock = 32\nparams = [{file = "a.npy"}, 3]\n')
    began = time.process_time()
    done = CliRunner().invoke(main, ["audit", "k.ptx", "--launch", "l.toml"])
    assert done.exit_code == 2 and "a.npy" in done.output and "failed here" not in done.output, done.output
    assert time.process_time() - began < SOON


@pytest.mark.parametrize(
    "text",
    ["x = " + "9" * 5_000, "x = " + "[" * 5_000, "[[launch]]\nkernel = '*'\ngrid = " + "[" * 3_000 + "]" * 3_000],
)
@pytest.mark.parametrize("words", [["--launch"], ["--config"]])
def test_malformed_toml_is_one_message(here, text, words):
    (here / "odd.toml").write_text(text + "\n")
    (here / "k.ptx").write_text(PTX)
    done = CliRunner().invoke(main, ["audit", "k.ptx", *words, "odd.toml"])
    assert done.exit_code == 2 and "odd.toml" in done.output and "failed here" not in done.output


# --- the documents ------------------------------------------------------------------------------


def test_numbers_beyond_floats_are_one_message(here):
    """TOML and JSON allow integers of any length.

    Code that divides them, or shows them as shares, accepts only the range of floats.
    """
    digits = "9" * 400
    (here / "k.ptx").write_text(PTX)
    (here / "ptxaudit.toml").write_text(f'inputs = ["k.ptx"]\nbudget = {digits}\n')
    command = lambda *words: CliRunner().invoke(main, words)
    said = [command("audit", "--no-cache")]
    (here / "ptxaudit.toml").unlink()
    assert command("audit", "k.ptx", "--format", "json", "-o", "r.json").exit_code == 0
    assert command("baseline", "update", "b.json", "k.ptx").exit_code == 0
    for file, words in (
        ("r.json", ("history", "r.json", "other.json")),
        ("r.json", ("diff", "other.json", "r.json")),
        ("b.json", ("audit", "k.ptx", "--baseline", "b.json")),
    ):
        text = (here / file).read_text()
        (here / "other.json").write_text((here / "r.json").read_text())
        (here / file).write_text(re.sub(r'("shared_static": )\d+', rf"\g<1>{digits}", text))
        said.append(command(*words))
        (here / file).write_text(text)
    for done in said:
        assert done.exit_code == 2 and done.stderr.count("error:") == 1 and "bug in ptxaudit" not in done.stderr, (
            done.stderr
        )
    assert json.loads((here / "r.json").read_text()) == json_of((here / "r.json").read_bytes())
    assert json_of('{"param_bytes": "' + "0" * 400 + '", "n": 12}')["n"] == 12


def test_security_page_has_the_table_of_limits():
    page = (ROOT / "docs" / "security.md").read_text()
    for limit in limits.ALL:
        assert f"| `{limit.name}` | {limit.most:,} {limit.unit} | {limit.why} |" in page, limit.name


def test_every_limit_is_used():
    code = "".join(path.read_text() for path in (ROOT / "ptxaudit").rglob("*.py") if path.name != "limits.py")
    unused = [
        name
        for name, value in vars(limits).items()
        if isinstance(value, Limit)
        and f"{name}." not in code
        and f"limits.{name}" not in code
        and f"{name})" not in code
        and f"{name}," not in code
    ]
    assert not unused
