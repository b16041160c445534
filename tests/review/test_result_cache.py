"""The cache of results for unchanged files.

It returns the same report, only while nothing that determines it has changed, and never stores a problem.
"""

import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from kernels import COLUMN, PTX
from machine_code import from_cuda

import ptxaudit
from ptxaudit.base import resources
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.toolchains import Tool
from ptxaudit.frontend.inputs import read
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline import loading
from ptxaudit.review import fingerprint, part, result_cache
from ptxaudit.review import kept_parts as pipeline
from ptxaudit.ui.cli import main

LAUNCH = Launch("*", grid=2, block=32)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder and an empty cache.

    `audited` lists the files that are really audited, `compiled` those that are compiled.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    result_cache._opened.cache_clear()
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "c.cu").write_text(COLUMN)
    (tmp_path / "c.cubin").write_bytes(from_cuda(COLUMN))
    wait_for_the_clock()
    yield tmp_path
    result_cache._opened.cache_clear()


def wait_for_the_clock():
    while fingerprint.written_since("c.cubin", fingerprint.moment()):  # the file system's time may be coarse
        pass


@pytest.fixture
def with_source(here):
    """The same, with a cubin that names the source beside it."""
    (here / "c.cubin").write_bytes(compile_source(here / "c.cu").cubin)
    wait_for_the_clock()
    return here


@pytest.fixture
def audited(monkeypatch):
    files = []
    audit = pipeline._audited

    def counting(inputs, options, progress):
        files.extend(map(str, inputs))
        return audit(inputs, options, progress)

    of_source = part.audit_loaded

    def counting_sources(content, *arguments):
        files.append(content.path)
        return of_source(content, *arguments)

    monkeypatch.setattr(pipeline, "_audited", counting)
    monkeypatch.setattr(part, "audit_loaded", counting_sources)
    return files


@pytest.fixture
def compiled(monkeypatch):
    files = []
    compile_it = loading.compiled_of
    monkeypatch.setattr(
        loading, "compiled_of", lambda content, options: files.append(content.path) or compile_it(content, options)
    )
    return files


def run(*files, **options):
    return ptxaudit.audit(list(files), cache=True, **options)


def test_second_audit_is_served_from_the_cache(here, audited):
    first = run("k.ptx", "c.cubin", launches=[LAUNCH])
    assert audited == ["k.ptx", "c.cubin"]
    second = run("k.ptx", "c.cubin", launches=[LAUNCH])
    assert audited == ["k.ptx", "c.cubin"] and second == first == ptxaudit.audit(
        ["k.ptx", "c.cubin"], launches=[LAUNCH]
    )
    assert second.to_json() == first.to_json()


def test_only_uncached_inputs_are_audited_in_order(here, audited):
    run("c.cubin")
    both = run("k.ptx", "c.cubin", "c.cu")
    assert audited == ["c.cubin", "c.cu", "k.ptx"] and [entry.path for entry in both.inputs] == [
        "k.ptx",
        "c.cubin",
        "c.cu",
    ]
    assert both == ptxaudit.audit(["k.ptx", "c.cubin", "c.cu"])


def test_source_is_compiled_each_time_and_audited_once(here, audited, compiled):
    first = run("c.cu", launches=[LAUNCH])
    second = run("c.cu", launches=[LAUNCH])
    assert compiled == ["c.cu", "c.cu"] and audited == ["c.cu"]
    assert first == second == ptxaudit.audit("c.cu", launches=[LAUNCH]) and first.sites


def test_key_contains_included_headers(here, audited, compiled):
    (here / "pitch.h").write_text("#define PITCH 32\n")
    (here / "c.cu").write_text(
        '#include "pitch.h"\nextern "C" __global__ void k() { __shared__ volatile int s[32 * 33];'
        " s[threadIdx.x * PITCH] = 1; }\n"
    )
    while fingerprint.written_since("c.cu", fingerprint.moment()):
        pass
    ways = [run("c.cu", launches=[LAUNCH]).sites[0].ways for _ in range(2)]
    (here / "pitch.h").write_text("#define PITCH 33\n")
    ways += [run("c.cu", launches=[LAUNCH]).sites[0].ways for _ in range(2)]
    assert ways == [32, 32, 1, 1] and audited == ["c.cu", "c.cu"] and compiled == ["c.cu"] * 4


@pytest.mark.parametrize(
    "change", [{"defines": ["N=1"]}, {"isa": "both"}, {"arch": "sm_80"}, {"std": "c++14"}], ids=lambda c: next(iter(c))
)
def test_key_contains_compiler_options(here, audited, change):
    for _ in range(2):
        run("c.cu")
        run("c.cu", **change)
    assert audited == ["c.cu", "c.cu"]


def test_compile_errors_are_not_cached(here, compiled):
    (here / "c.cu").write_text(COLUMN + "oops")
    found = [run("c.cu", "k.ptx") for _ in range(2)]
    assert found[0] == found[1] and found[0].problems and found[0].sites and compiled == ["c.cu", "c.cu"]


def test_source_changed_during_its_audit_is_not_cached(here, audited, monkeypatch):
    compile_it = loading.compiled_of

    def and_write(content, options):
        made = compile_it(content, options)
        rewrite(here / "c.cu", b"", b"\n")
        return made

    monkeypatch.setattr(loading, "compiled_of", and_write)
    run("c.cu")
    (here / "c.cu").write_text(COLUMN)
    monkeypatch.setattr(loading, "compiled_of", compile_it)
    run("c.cu")
    assert audited == ["c.cu", "c.cu"]


def test_file_changed_before_its_audit_is_not_cached(here, audited, monkeypatch):
    """The result for the new content must not be stored as that of the old."""
    audit = pipeline._audited

    def write_first(inputs, options, progress):
        (here / "k.ptx").write_text(PTX.replace("stride", "other"))
        return audit(inputs, options, progress)

    monkeypatch.setattr(pipeline, "_audited", write_first)
    monkeypatch.setattr(fingerprint, "written_since", lambda file, moment: False)
    run("k.ptx")
    monkeypatch.setattr(pipeline, "_audited", audit)
    (here / "k.ptx").write_text(PTX)
    assert [kernel.name for kernel in run("k.ptx").kernels] == ["stride"]


@pytest.mark.parametrize(
    "change",
    [
        {"launches": [Launch("*", grid=3, block=32)]},
        {"launches": [Launch("*", grid=2, block=32, named={"1": 4})]},
        {"assume": {"0": 16}},
        {"arch": "sm_80"},
        {"machine": "fermi"},
        {"kernels": ["s*"]},
        {"budget": 5.0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_key_contains_audit_options(here, audited, change):
    options = {"launches": [LAUNCH]}
    run("k.ptx", **options)
    run("k.ptx", **options | change)
    run("k.ptx", **options | change)
    assert audited == ["k.ptx", "k.ptx"]


def test_key_contains_the_content(here, audited):
    run("k.ptx")
    (here / "k.ptx").write_text(PTX.replace("stride", "other"))
    assert run("k.ptx").kernels[0].name == "other"


@pytest.fixture
def elsewhere(here, monkeypatch):
    """A copy of the package and its grammars, and one program of each kind, which a test may change.

    `begun` acts as a process that started after the copy was made.
    """
    folder, tools = here / "copy", here / "tools"
    for name in (
        "ir/graph.py",
        "engine/fixpoint/infer.py",
        "hardware/machines.py",
        "report/schemas/report-1.schema.json",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((fingerprint.PACKAGE / name).read_bytes())
    (here / "grammars").mkdir()
    for name in ("ptx.lark", "sass.lark"):
        (here / "grammars" / name).write_text(resources.grammar(name))
    tools.mkdir()
    for kind in fingerprint.PROGRAMS:
        (tools / kind).write_text(kind)
    of_package = fingerprint.of_package
    monkeypatch.setattr(fingerprint, "of_package", lambda: of_package(folder))
    monkeypatch.setattr(
        fingerprint,
        "_found",
        lambda kind: tuple(Tool(kind, str(path), "test") for path in sorted(tools.glob(f"{kind}*"))),
    )
    monkeypatch.setattr(resources, "_GRAMMARS", (here / "none", here / "grammars"))
    return here


@pytest.fixture
def begun(monkeypatch):
    def begin():
        monkeypatch.setattr(fingerprint, "AT_START", fingerprint._of_code())

    return begin


def rewrite(path, old=b"", new=b"x"):
    path.write_bytes(path.read_bytes().replace(old, new, 1) if old else path.read_bytes() + new)


INGREDIENTS = {
    "a module": lambda here, patch: rewrite(here / "copy" / "ir" / "graph.py"),
    "a module in a folder": lambda here, patch: rewrite(here / "copy" / "engine" / "fixpoint" / "infer.py"),
    "a module of the same size": lambda here, patch: rewrite(here / "copy" / "hardware" / "machines.py", b"a", b"b"),
    "a new module": lambda here, patch: (here / "copy" / "new.py").write_text(""),
    "a schema": lambda here, patch: rewrite(here / "copy" / "report" / "schemas" / "report-1.schema.json"),
    "a grammar of a checkout": lambda here, patch: rewrite(here / "grammars" / "sass.lark"),
    "a grammar more": lambda here, patch: (here / "grammars" / "other.lark").write_text(""),
    "the disassembler": lambda here, patch: rewrite(here / "tools" / "nvdisasm"),
    "the extractor": lambda here, patch: rewrite(here / "tools" / "cuobjdump", b"c", b"k"),
    "the assembler": lambda here, patch: rewrite(here / "tools" / "ptxas"),
    "another assembler": lambda here, patch: (here / "tools" / "ptxas-12.9").write_text(""),
    "no extractor": lambda here, patch: (here / "tools" / "cuobjdump").unlink(),
    "Python": lambda here, patch: patch.setattr(sys, "version", "3.99"),
    "the processor": lambda here, patch: patch.setattr("platform.machine", lambda: "riscv"),
    "numpy": lambda here, patch: patch.setattr(fingerprint, "_version", lambda name: "99" if name == "numpy" else "1"),
    "lark": lambda here, patch: patch.setattr(fingerprint, "_version", lambda name: "99" if name == "lark" else "1"),
}


@pytest.mark.parametrize("what", INGREDIENTS)
def test_key_contains_every_part_of_the_tool(elsewhere, audited, begun, monkeypatch, what):
    begun()
    digests = {fingerprint.of_tool({}), fingerprint.of_tool({})}
    run("k.ptx")
    run("k.ptx")
    assert audited == ["k.ptx"]
    INGREDIENTS[what](elsewhere, monkeypatch)
    begun()
    digests.add(fingerprint.of_tool({}))
    assert len(digests) == 2
    run("k.ptx")
    run("k.ptx")
    assert audited == ["k.ptx", "k.ptx"]


def test_key_contains_toolchains_named_by_the_environment(here, begun, monkeypatch):
    toolchains.find.cache_clear()
    begun()
    before = fingerprint.of_tool({})
    other = here / "cuda" / "bin"
    other.mkdir(parents=True)
    (other / "ptxas").write_text("#!/bin/sh\n")
    (other / "ptxas").chmod(0o755)
    monkeypatch.setenv(toolchains.VARIABLE, str(here / "cuda"))
    toolchains.find.cache_clear()
    try:
        assert fingerprint.of_tool({}) != before
    finally:
        monkeypatch.delenv(toolchains.VARIABLE)
        toolchains.find.cache_clear()
    assert fingerprint.of_tool({}) == before


def test_key_is_independent_of_the_install_path(elsewhere, begun):
    begun()
    before = fingerprint.of_tool({})
    for path in [*(elsewhere / "copy").rglob("*.py"), *(elsewhere / "tools").iterdir()]:
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)  # another inode, other times
    begun()
    assert fingerprint.of_tool({}) == before


def test_package_changed_after_start_disables_the_cache(elsewhere, audited, begun):
    """If the package was written to after the process started, nothing is taken from the cache, and nothing is
    stored.
    """
    begun()
    run("k.ptx")
    rewrite(elsewhere / "copy" / "ir" / "graph.py")
    for _ in range(2):
        run("k.ptx")
    assert audited == ["k.ptx"] * 3 and fingerprint.of_tool({}) is None
    begun()
    run("k.ptx")
    assert audited == ["k.ptx"] * 4


def test_file_digests_are_cached_only_for_old_timestamps(elsewhere, begun, monkeypatch):
    begun()
    kept, read = {}, []
    content = fingerprint.content
    monkeypatch.setattr(fingerprint, "content", lambda file: read.append(file) or content(file))
    first = fingerprint.of_tool(kept)
    assert not kept and read  # everything was written just now
    monkeypatch.setattr(fingerprint, "GRAIN", -(10**15))
    assert fingerprint.of_tool(kept) == first and kept
    read.clear()
    assert fingerprint.of_tool(kept) == first and not read
    rewrite(elsewhere / "tools" / "ptxas")
    assert fingerprint.of_tool(kept) != first and [Path(file).name for file in read] == ["ptxas"]


def test_changed_source_line_invalidates_the_entry(with_source, audited):
    assert run("c.cubin").sites[0].source.text
    (with_source / "c.cu").write_text("// moved\n" + COLUMN)
    run("c.cubin")
    assert audited == ["c.cubin", "c.cubin"]


def test_source_with_another_timestamp_keeps_the_entry(with_source, audited):
    run("c.cubin")
    (with_source / "c.cu").unlink()
    (with_source / "c.cu").write_text(COLUMN)
    os.utime("c.cu", (1, 1))
    run("c.cubin")
    assert audited == ["c.cubin"]
    (with_source / "c.cu").write_text(COLUMN.replace("tid", "tix"))
    os.utime("c.cu", (1, 1))  # same size and time, different content
    run("c.cubin")
    assert audited == ["c.cubin", "c.cubin"]


@pytest.mark.parametrize("name", ["k.ptx", "c.cu"])
def test_files_written_during_an_audit_prevent_caching(with_source, audited, monkeypatch, name):
    audit = pipeline._audited

    def and_write(inputs, options, progress):
        part = audit(inputs, options, progress)
        rewrite(with_source / name, b"", b"\n")
        return part

    monkeypatch.setattr(pipeline, "_audited", and_write)
    file = "k.ptx" if name == "k.ptx" else "c.cubin"
    run(file)
    monkeypatch.setattr(pipeline, "_audited", audit)
    assert result_cache.ResultCache(Options(cache=True)).get(read(file)).part is None


def test_key_contains_neighbouring_files(here, audited):
    """Where a cubin and its PTX are side by side, neither is generated from the other."""
    for name in ("k.cubin", "c.ptx"):
        run("k.ptx", "c.cubin")
        (here / name).write_text("")
    run("k.ptx", "c.cubin")
    assert audited == ["k.ptx", "c.cubin", "k.ptx", "c.cubin"]


def test_paired_files_are_cached_together(here, audited):
    """With both instruction sets, the PTX states what it became in the machine code, and vice versa."""
    (here / "c.ptx").write_text(compile_source(here / "c.cu").ptx)
    wait_for_the_clock()

    def audit(*files):
        """(whether the report equals that of an audit without the cache, the files not taken from the cache)"""
        del audited[:]
        found, anew = run(*files, isa="both"), audited.copy()
        return found == ptxaudit.audit(list(files), isa="both"), anew

    pair = "c.ptx", "c.cubin"
    assert audit("c.ptx") == (True, ["c.ptx"])
    assert audit(*pair) == (True, [*pair])
    assert audit(*pair) == (True, []) and audit("k.ptx", *pair) == (True, ["k.ptx"])
    assert audit("c.cubin") == (True, ["c.cubin"]) and audit("c.ptx") == (True, [])
    (here / "c.cubin").write_bytes(from_cuda(COLUMN.replace("float", "double")))
    wait_for_the_clock()
    assert audit(*pair) == (True, [*pair]) and audit(*pair) == (True, [])


def test_pair_changed_during_its_audit_is_not_cached(here, audited, monkeypatch):
    (here / "c.ptx").write_text(compile_source(here / "c.cu").ptx)
    wait_for_the_clock()
    audit = pipeline._audited

    def changing(inputs, options, progress):
        (here / "c.cubin").write_bytes(from_cuda(COLUMN.replace("float", "double")))
        return audit(inputs, options, progress)

    monkeypatch.setattr(pipeline, "_audited", changing)
    run("c.ptx", "c.cubin", isa="both")
    monkeypatch.setattr(pipeline, "_audited", audit)
    (here / "c.cubin").write_bytes(from_cuda(COLUMN))
    wait_for_the_clock()
    fresh = ptxaudit.audit(["c.ptx", "c.cubin"], isa="both")
    assert run("c.ptx", "c.cubin", isa="both") == fresh


def test_key_contains_buffer_data(here, audited):
    for numbers in (range(8), range(8), range(1, 9)):
        np.save(here / "a.npy", np.array(numbers, np.int32))
        (here / "launch.toml").write_text(
            "[[launch]]\nkernel = '*'\nblock = 32\ngrid = 1\nparams = [{file = 'a.npy'}, 2]\n"
        )
        run("k.ptx", launches=ptxaudit.read_launches(here / "launch.toml"))
    assert audited == ["k.ptx", "k.ptx"]


def test_exhausted_results_are_cached(here, audited):
    """A budget determines the answer."""
    first = run("k.ptx", budget=1e-4)
    assert {site.reason_kind for kernel in first.kernels for site in kernel.sites} == {"exhausted"}
    assert run("k.ptx", budget=1e-4) == first
    assert audited == ["k.ptx"]


def test_problems_are_not_cached(here, audited):
    (here / "cut.ptx").write_text(PTX[:-30])
    launches = [Launch("*", grid=1, block=32, params=[1])]
    for _ in range(2):
        assert len(run("cut.ptx", "k.ptx").problems) == 1
        assert "too few parameters" in run("k.ptx", launches=launches).problems[0].what
    assert audited == ["cut.ptx", "k.ptx", "k.ptx", "cut.ptx", "k.ptx"]


def test_unsupported_images_do_not_prevent_caching(here, audited):
    """A library with code for old architectures has the same problem every time."""
    packer = Path(toolchains.get("nvcc").path).parent / "fatbinary"
    old = bytearray((here / "c.cubin").read_bytes())
    (flags,) = struct.unpack_from("<I", old, 48)
    at = 8 if flags >> 8 & 0xFF == 90 else 0
    struct.pack_into("<I", old, 48, flags & ~(0xFF << at) | 70 << at)
    (here / "old.cubin").write_bytes(old)
    images = ["--image3=kind=elf,sm=90,file=c.cubin", "--image3=kind=elf,sm=70,file=old.cubin"]
    subprocess.run([str(packer), "--create=both.fatbin", "-64", *images], check=True)
    while fingerprint.written_since("both.fatbin", fingerprint.moment()):
        pass
    first, second = (run("both.fatbin", "k.ptx") for _ in range(2))
    assert audited == ["both.fatbin", "k.ptx"] and first == second
    assert [problem.file for problem in first.problems] == ["both.fatbin#2"] and "sm_70" in first.problems[0].what
    assert len({kernel.input for kernel in first.kernels}) == 2


def test_launch_of_no_kernel_is_a_problem_even_if_all_is_cached(here, audited):
    other = [LAUNCH, Launch("other", grid=1)]
    assert run("k.ptx", launches=other).problems == run("k.ptx", launches=other).problems != ()


def test_inputs_from_text_and_duplicate_files(here):
    assert run(PTX, "k.ptx", "k.ptx") == ptxaudit.audit([PTX, "k.ptx", "k.ptx"])
    assert {kernel.input for kernel in run("k.ptx", PTX, "c.cubin").kernels} == {"k.ptx", "<string>", "c.cubin"}


@pytest.mark.parametrize("damage", [b"", b"no database"])
def test_damaged_cache_is_ignored(here, audited, damage):
    run("k.ptx")
    result_cache._opened().close()
    result_cache._opened.cache_clear()
    (here / "cache" / "ptxaudit" / "results" / result_cache.FILE).write_bytes(damage)
    assert run("k.ptx").sites


def test_cached_reports_are_picklable_and_the_folder_is_private(here):
    report = run("k.ptx", launches=[LAUNCH])
    assert pickle.loads(pickle.dumps(report)) == report
    assert os.stat(here / "cache" / "ptxaudit" / "results").st_mode & 0o077 == 0


def test_command_caches_unless_no_cache(here, audited, monkeypatch):
    monkeypatch.delenv("PTXAUDIT_CACHE", raising=False)
    texts = [CliRunner().invoke(main, ["audit", "k.ptx", *options]).stdout for options in ([], [], ["--no-cache"])]
    assert audited == ["k.ptx", "k.ptx"] and texts[0] == texts[1] == texts[2]


HEAVY = ("numpy", "networkx", "lark", "elftools", "ptxaudit.engine", "ptxaudit.ir.graph")


@pytest.mark.parametrize(
    "arguments",
    (
        ("audit", "k.ptx", "c.cubin"),
        ("audit", "k.ptx", "--format", "json"),
        ("audit", "c.cu"),
        ("diff", "k.ptx", "k2.ptx"),
        ("diff", "c.cu", "--toolchain", "13", "--arch", "sm_80", "--arch", "sm_90"),
    ),
    ids=" ".join,
)
def test_fully_cached_audit_imports_no_engine(here, monkeypatch, arguments):
    monkeypatch.delenv("PTXAUDIT_CACHE")
    (here / "k2.ptx").write_text(PTX)
    CliRunner().invoke(main, arguments)
    assert heavy_imports(*arguments) == "[]"


def test_uncached_audit_imports_the_engine(here, monkeypatch):
    monkeypatch.delenv("PTXAUDIT_CACHE")
    assert "ptxaudit.engine" in heavy_imports("audit", "k.ptx")


def heavy_imports(*arguments: str) -> str:
    """The modules of HEAVY that a process of the command imports."""
    code = (
        "import sys; from ptxaudit.ui.cli import main\ntry: main()\nfinally:"
        f" print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    return done.stderr.splitlines()[-1]
