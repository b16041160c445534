"""The disassembler in batches: the same text as for each cubin separately, undecodable code, and the number of
processes.
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from pathlib import Path

import machine_code
import pytest
from machine_code import ARCHITECTURES, EVERYTHING, from_cuda, from_ptx
from msgspec.structs import replace
from twin.c_side import COMPILER

import ptxaudit
from ptxaudit.base import limits, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.inputs import Content
from ptxaudit.frontend.sass import disassemble as module
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.pipeline.machine_code import one_ahead, portions

SMALL = """.visible .entry k%d(.param .u64 p)
{ .reg .u32 %%r<5>; .reg .u64 %%d<2>; .reg .pred %%q; .shared .align 16 .b8 a[4096];
  mov.u32 %%r2, %%tid.x; mov.u32 %%r3, a; ld.param.u64 %%d1, [p]; setp.gt.u32 %%q, %%r2, %d;
  L: mad.lo.u32 %%r3, %%r2, %d, %%r3; st.shared.u32 [%%r3], %%r2; ld.global.u32 %%r2, [%%d1]; setp.ne.u32 %%q, %%r2, 0; @%%q bra L; ret; }
"""


@pytest.fixture(autouse=True)
def nothing_is_kept():
    module.kept.clear()


@pytest.fixture
def runs(monkeypatch):
    """The calls of the disassembler, each as its number of functions."""
    calls = []
    run = module._nvdisasm
    monkeypatch.setattr(module, "_nvdisasm", lambda pieces, *a: calls.append(len(pieces)) or run(pieces, *a))
    return calls


def of_one_file(data: bytes, tmp_path) -> dict[str, list[str]]:
    """function -> instructions, as nvdisasm prints one cubin without labels and names (as `-raw` would)."""
    path = tmp_path / "one.cubin"
    path.write_bytes(data)
    said = subprocess.run(
        [toolchains.get("nvdisasm").path, "-c", str(path)], capture_output=True, text=True, check=True
    ).stdout
    functions: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in said.splitlines():
        if match := re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line):
            lines = functions.setdefault(match[1], [])
        elif match := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line):
            lines.append(" ".join(match[1].split()))
    return functions


_PLACE = re.compile(r"`\([^)]*\)|\(\*.*\*\)|-?\b0x[0-9a-f]+\s*(\(\*.*\*\))?$")


@pytest.mark.parametrize("arch", ("sm_75", "sm_90", "sm_120"))
def test_batch_disassembles_as_each_file_separately(arch, tmp_path, runs):
    """Except for branch targets, which nvdisasm prints as labels for a file."""
    cubins = [from_ptx(SMALL % (1, 7, 4), arch), from_cuda(EVERYTHING, arch), from_ptx(SMALL % (2, 9, 8), arch)]
    batch = disassemble([read_cubin(data, "k") for data in cubins])
    assert len(runs) == 1
    for data, code in zip(cubins, batch, strict=True):
        alone = of_one_file(data, tmp_path)
        assert code.keys() == alone.keys()
        for name, lines in code.items():
            assert [_PLACE.sub("", line.text).split() for line in lines] == [
                _PLACE.sub("", text).split() for text in alone[name]
            ]


@pytest.mark.parametrize("arch", ("sm_80", "sm_121"))
def test_branch_targets_in_a_batch_are_relative_to_their_function(arch):
    first, second = (read_cubin(from_ptx(SMALL % (n, 5, 4), arch), "k") for n in (1, 2))
    together = disassemble([first, second])
    assert together[1] == disassemble([second])[0]
    targets = [line.operands for line in together[1]["k2"] if line.opcode == "BRA"]
    assert targets and all(int(t.split()[-1], 16) < len(second.functions[0].code) for t in targets)


def test_one_disassembler_process_per_architecture(runs):
    data = [from_ptx(SMALL % (n, n, 4), arch) for n in range(4) for arch in ARCHITECTURES[:3]]
    found = list(portions(Content(f"{n}.cubin", "cubin", bytes(one)) for n, one in enumerate(data)))
    assert sorted(runs) == [4, 4, 4]
    assert [portion.path for portion in found] == [f"{n}.cubin" for n in range(len(data))]
    assert all(len(portion.module.functions) == 1 and not portion.errors for portion in found)


def test_repeated_instruction_is_disassembled_once(monkeypatch):
    """Each occurrence still has its own branch targets."""
    cubins, given, run = [read_cubin(from_ptx(SMALL % (n, 5, 4)), "k") for n in (1, 2)], [], module._nvdisasm
    monkeypatch.setattr(module, "_nvdisasm", lambda p, codes, *a: given.append(len(codes)) or run(p, codes, *a))
    together = disassemble(cubins)
    lines = [line for code in together for function in code.values() for line in function]
    assert given[0] < len(lines) and {"BRA"} <= {line.opcode for line in lines}
    for cubin, found in zip(cubins, together, strict=True):
        module.kept.clear()
        assert disassemble([cubin])[0] == found


def test_known_code_is_not_disassembled_again(runs, monkeypatch):
    one, two, three = (read_cubin(from_ptx(SMALL % (n, n, 4 * n)), "k") for n in (1, 2, 3))
    first = disassemble([one, two])
    assert runs == [2]
    assert disassemble([two, three, one])[::2] == first[::-1]
    assert runs == [2, 1]
    assert disassemble([replace(one, sm=86)]) != [] and runs == [2, 1, 1]  # another instruction set
    monkeypatch.setattr(module, "KEPT_BYTES", 2 * len(one.functions[0].code))
    disassemble([read_cubin(from_ptx(SMALL % (4, 4, 16)), "k")])
    assert disassemble([one])[0] == first[0] and runs[3:] == [1, 1]  # the least recently used was evicted first


def test_large_cubin_is_disassembled_in_portions(monkeypatch, runs):
    monkeypatch.setattr("ptxaudit.pipeline.machine_code.BATCH_BYTES", 2048)
    monkeypatch.setattr("ptxaudit.pipeline.machine_code.PORTION_BYTES", 1024)
    data = from_ptx(
        "".join((SMALL % (n, n, 4 * n)).replace(" a[", f" a{n}[").replace(", a;", f", a{n};") for n in range(12))
    )
    found = list(portions([Content("k.cubin", "cubin", data)]))
    assert len(found) > 3 and len(runs) > 2
    assert sorted(name for portion in found for name in portion.module.functions) == sorted(f"k{n}" for n in range(12))
    assert [len(portion.names) for portion in found] == [12] + [0] * (len(found) - 1)


def test_abandoned_stream_is_closed_without_waiting():
    """The garbage collector may close it, in any thread: waiting there for another thread was a deadlock."""
    gate = threading.Event()

    def items():
        yield 1
        gate.wait(60)

    stream = one_ahead(items())
    assert next(stream) == 1
    start = time.monotonic()
    stream.close()
    waited = time.monotonic() - start
    gate.set()
    assert waited < 30


@pytest.mark.parametrize("stage", ("artifacts.cubin.read_cubin", "sass.disassemble.disassemble"))
def test_fault_in_the_thread_is_reported_for_each_file(monkeypatch, tmp_path, stage):
    def broken(*args):
        raise KeyError("r7")

    for name in ("a", "b"):
        (tmp_path / f"{name}.cubin").write_bytes(from_ptx(SMALL % (1, 1, 4)))
    monkeypatch.setattr(f"ptxaudit.frontend.{stage}", broken)
    problems = ptxaudit.audit(tmp_path).problems
    assert [Path(problem.file).name for problem in problems] == ["a.cubin", "b.cubin"]
    assert all("KeyError: 'r7'" in problem.what for problem in problems)
    monkeypatch.setenv("PTXAUDIT_DEBUG", "1")
    with pytest.raises(KeyError):
        ptxaudit.audit(tmp_path)


def test_killed_disassembler_is_not_blamed_on_the_code(tmp_path):
    stopped = tmp_path / "nvdisasm"
    stopped.write_text("#!/bin/sh\nkill -KILL $$\n")
    stopped.chmod(0o755)
    with pytest.raises(InputError, match="was stopped .SIGKILL."):
        disassemble([read_cubin(from_ptx(SMALL % (1, 1, 4)), "k")], str(stopped))


def test_full_temporary_folder_is_reported(monkeypatch):
    def full(**options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    (problem,) = ptxaudit.audit(from_ptx(SMALL % (1, 1, 4))).problems
    assert "No space left" in problem.what and "TMPDIR" in problem.hint


def test_undecodable_function_leaves_the_others():
    good, bad = (read_cubin(from_ptx(SMALL % (n, n, 4)), f"{n}.cubin") for n in (1, 2))
    broken = replace(bad.functions[0], code=b"\xff" * 64 + bad.functions[0].code[64:])
    first, second = disassemble([good, replace(bad, functions=(broken,))])
    assert isinstance(first["k1"], tuple) and len(first["k1"]) * 16 == len(good.functions[0].code)
    assert (
        isinstance(second["k2"], InputError)
        and "does not decode as sm_90" in second["k2"].what
        and second["k2"].file == "2.cubin"
    )


def test_architecture_unknown_to_the_disassembler_is_rejected():
    cubin = replace(read_cubin(from_ptx(SMALL % (1, 1, 4)), "k"), sm=77)
    with pytest.raises(InputError, match="this nvdisasm does not know sm_77"):
        disassemble([cubin])


def test_disassembly_of_nothing_is_empty():
    assert disassemble([]) == []
    assert machine_code.lines_of(from_ptx(SMALL % (1, 1, 4)))[1]["k1"]


@pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc or clang) is installed: nothing is kept running")
def test_resident_disassembler_gives_the_output_of_separate_processes(tmp_path):
    """The server that other tests use (tests/support/disassembler.py), on code that decodes and code that does not."""
    (function,) = read_cubin(from_ptx(SMALL % (1, 1, 4)), "k").functions
    for name, code in {
        "good": function.code,
        "bad": function.code[:32] + b"\xff" * 16,
        "cut": function.code[:24],
    }.items():
        path = tmp_path / name
        path.write_bytes(code)
        command = [toolchains.get("nvdisasm").path, "-b", "SM90", str(path)]
        alone = subprocess.run(command, capture_output=True, text=True)
        served = vendor.run(command, limits.TOOL_TIME)
        assert (tmp_path / f"{name}.out").exists()
        assert (served.status, served.out) == (alone.returncode, alone.stdout) and (alone.returncode == 0) == (
            name == "good"
        )
        assert re.sub(r"\S*/", "", served.err.replace("served.bin", name)) == re.sub(r"\S*/", "", alone.stderr)


def test_users_malloc_tunables_are_kept(monkeypatch):
    given, run = [], vendor.run
    monkeypatch.setattr(module.vendor, "run", lambda *a, more, **b: given.append(dict(more)) or run(*a, more=more, **b))
    cubin = read_cubin(from_ptx(SMALL % (1, 5, 4)), "k")
    monkeypatch.delenv(module.TUNABLES, raising=False)
    first = disassemble([cubin])
    module.kept.clear()
    monkeypatch.setenv(module.TUNABLES, "glibc.malloc.top_pad=65536")
    assert disassemble([cubin]) == first
    assert [list(more) for more in given] == [[module.TUNABLES], []]
