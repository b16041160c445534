"""Audits in several processes, on executors and on a cluster.

They find what one process finds: nothing is lost, and nothing appears twice.
"""

import json
import socket
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from kernels import COLUMN, PTX

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part
from ptxaudit.pipeline.loading import Loaded
from ptxaudit.report.model import Input
from ptxaudit.report.reader import parse_report
from ptxaudit.review import audit as audits
from ptxaudit.review import executors, kept_parts
from ptxaudit.review.divided import Piece, Whole, batches, divided
from ptxaudit.ui.cli import main

_ENTRY, _BODY = ".visible .entry ", PTX[PTX.index("(", PTX.index(".entry")) :]
_HEAD = PTX[: PTX.index(".visible")]
NAMES = [f"kernel_{at}" for at in (5, 3, 9, 1, 7)]
LAUNCHES = [ptxaudit.Launch("*", grid=2, block=32), ptxaudit.Launch("kernel_9", grid=1, block=64)]


def several(names) -> str:
    """PTX of several kernels."""
    return _HEAD + "".join(f"{_ENTRY}{name}{_BODY}" for name in names)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.ptx").write_text(several(NAMES))
    for name in "abcdef":
        (tmp_path / f"{name}.ptx").write_text(several([f"{name}{at}" for at in range(3)]))
    (tmp_path / "broken.ptx").write_text(".version 8.0\n.target sm_90\n.visible .entry broken( {")
    return tmp_path


@pytest.mark.parametrize("jobs", [2, 3, 4, 5, 20])
def test_file_is_divided_into_at_most_one_piece_per_process(here, jobs):
    (whole,) = divided(["many.ptx"], Options(jobs=jobs), jobs)
    assert len(whole.pieces) == min(jobs, len(NAMES))


@pytest.mark.parametrize("jobs", [2, 20])
def test_kernels_of_one_ptx_file_are_divided(here, jobs):
    alone = ptxaudit.audit("many.ptx", launches=LAUNCHES)
    assert ptxaudit.audit("many.ptx", launches=LAUNCHES, jobs=jobs).to_json() == alone.to_json()
    assert [kernel.name for kernel in alone.kernels] == sorted([*NAMES, "kernel_9"], key=lambda name: NAMES.index(name))


def test_kernels_of_one_cubin_are_divided(here):
    from machine_code import from_ptx

    (here / "many.cubin").write_bytes(from_ptx(several(NAMES).removeprefix(_HEAD)))
    alone = ptxaudit.audit("many.cubin", launches=LAUNCHES)
    assert len(alone.kernels) == len(NAMES) + 1
    assert ptxaudit.audit("many.cubin", launches=LAUNCHES, jobs=3).to_json() == alone.to_json()


@pytest.mark.parametrize("wrong", [{"kernels": ["nowhere"]}, {"launches": [ptxaudit.Launch("nowhere", 1, 32)]}])
def test_problems_of_divided_files_are_reported_once(here, wrong):
    files = ["broken.ptx", "many.ptx"]
    assert ptxaudit.audit(files, jobs=3, **wrong).to_json() == ptxaudit.audit(files, **wrong).to_json()


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_gives_the_same_report(here, kind):
    files = ["many.ptx", "a.ptx", "broken.ptx"]
    with kind(2) as executor:
        assert ptxaudit.audit(files, executor=executor) == ptxaudit.audit(files)


class Losing(Executor):
    """An executor that loses the files with a given name."""

    def __init__(self, name):
        self.name = name

    def submit(self, function, piece, *arguments):
        future = Future()
        if self.name in str(piece.files):
            future.set_exception(MemoryError("gone"))
        else:
            future.set_result(function(piece, *arguments))
        return future


def test_lost_worker_loses_only_its_file(here):
    report = ptxaudit.audit(["a.ptx", "b.ptx", "c.ptx"], executor=Losing("b.ptx"))
    (problem,) = report.problems
    assert (problem.file, "worker that audited this file was lost: MemoryError" in problem.what) == ("b.ptx", True)
    assert [entry.path for entry in report.inputs] == ["a.ptx", "c.ptx"] and len(report.kernels) == 6


def test_invalid_executor_is_rejected():
    for address in ("spark://here:1", "dask://", "here"):
        done = CliRunner().invoke(main, ["audit", "a.ptx", "--executor", address])
        assert isinstance(done.exception, InputError) or "no executor" in done.output + str(done.exception)


def test_unusable_dask_scheduler_is_reported(monkeypatch):
    """One that does not exist, one that says nothing, one that hangs up, one without a port."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "GREETING", 0.5)

    def refused(place):
        with pytest.raises(InputError, match="cannot be reached") as raised, executors.executor_of(f"dask://{place}"):
            pass
        return raised.value.what

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        place = "{}:{}".format(*silent.getsockname())
        assert "refused" in refused(place)
        silent.listen()
        assert "timed out" in refused(place)
        closing = threading.Thread(target=lambda: [silent.accept()[0].close() for _ in range(2)], daemon=True)
        closing.start()
        assert "closes the connection" in refused(place)
    assert "HOST:PORT" in refused("127.0.0.1")


def test_toolchains_of_all_pieces_are_reported():
    """A piece reads the images that contain its kernels; others may have been built by another release."""
    entry = lambda toolchain, log="": Part(inputs=[Input("lib.so", "0", "host", toolchain, log)])
    whole = Whole((Piece(("lib.so",)),) * 4)
    for pieces in (
        (None, "ptxas 13.0", "ptxas 12.9", "ptxas 13.0"),
        ("ptxas 12.9", None, "ptxas 12.9, ptxas 13.0", None),
    ):
        (made,) = whole.joined([entry(toolchain, "seen" * (at == 2)) for at, toolchain in enumerate(pieces)]).inputs
        assert (made.toolchain, made.log) == ("ptxas 12.9, ptxas 13.0", "seen")
    part = entry(None)
    for toolchain in ("ptxas 13.0", "ptxas 12.9", "ptxas 13.0", "ptxas 12.9"):
        part.add_loaded(SimpleNamespace(path="lib.so"), Loaded((), toolchain))
    assert part.inputs[0].toolchain == "ptxas 12.9, ptxas 13.0"


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_paired_files_are_in_one_batch(size):
    files = ["a.cubin", "a.ptx", "b.ptx", "x/c.ptx", "c.cubin", "d.cu", "x/c.cubin", "e.ptx", b"", "f.cubin", "f.ptx"]
    both, one = (list(batches(files, Options(isa=isa), size)) for isa in ("both", "ptx"))
    assert [file for batch in both for file in batch] == [file for batch in one for file in batch] == files
    assert max(map(len, one)) <= size
    for pair in (("a.cubin", "a.ptx"), ("x/c.ptx", "x/c.cubin"), ("f.cubin", "f.ptx")):
        assert any(set(pair) <= {file for file in batch if isinstance(file, str)} for batch in both)


@pytest.mark.parametrize("jobs", [1, 2])
def test_kernels_are_paired_with_any_number_of_processes(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(COLUMN)
    made = compile_source("k.cu")
    (tmp_path / "k.ptx").write_text(made.ptx)
    (tmp_path / "k.cubin").write_bytes(made.cubin)
    found = ptxaudit.audit(["k.ptx", "k.cubin"], isa="both", jobs=jobs)
    assert len(found.kernels) == 2 and all(site.pairs_with for kernel in found.kernels for site in kernel.sites)


# --- JSON Lines ------------------------------------------------------------------------------


def lines_of(text: str) -> list:
    return [parse_report(line) for line in text.splitlines()]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_jsonl_has_a_report_per_file(here, jobs):
    done = CliRunner().invoke(main, ["audit", ".", "--format", "jsonl", "--jobs", jobs, "--kernel", "*"])
    found = lines_of(done.stdout)
    assert done.exit_code == 2
    files = {entry.path: one for one in found for entry in one.inputs}
    whole = ptxaudit.audit(".", fixes=True)
    assert [kernel for one in found for kernel in one.kernels] == list(parse_report(whole.to_json()).kernels)
    assert len(files) == sum(len(one.inputs) for one in found) == len(whole.inputs)
    assert sum(len(one.problems) for one in found) == len(whole.problems) == 1


def test_jsonl_lines_are_written_as_files_finish(here, monkeypatch):
    """Interrupted between two parts: the first part's lines are complete, and the next audit starts after them."""
    monkeypatch.setattr(audits, "AT_ONCE", 2)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    monkeypatch.delenv("PTXAUDIT_CACHE", raising=False)
    part, seen = audits.audit_part, []

    def interrupted(inputs, *given, **named):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(inputs)
        return part(inputs, *given, **named)

    command = ["audit", *(f"{name}.ptx" for name in "abcdef"), "--format", "jsonl", "-o", "lines.jsonl"]
    with monkeypatch.context() as patch:
        patch.setattr(audits, "audit_part", interrupted)
        CliRunner().invoke(main, command)
    first = lines_of((here / "lines.jsonl").read_text())
    assert [one.inputs[0].path for one in first] == ["a.ptx", "b.ptx", "c.ptx", "d.ptx"]
    examined = []
    fresh = kept_parts._audited
    monkeypatch.setattr(
        kept_parts, "_audited", lambda files, **given: [examined.extend(files), fresh(files, **given)][1]
    )
    CliRunner().invoke(main, command)
    again = lines_of((here / "lines.jsonl").read_text())
    assert examined == ["e.ptx", "f.ptx"]
    assert [one.inputs[0].path for one in again] == [f"{name}.ptx" for name in "abcdef"] and again[:4] == first


# --- a cluster -------------------------------------------------------------------------------

_CLUSTER = """
import json, os, signal, sys, time
from distributed import LocalCluster, Client
import ptxaudit
from ptxaudit.review import executors

if __name__ == "__main__":
    files = sys.argv[1:]
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        client = Client(cluster)
        doomed = next(iter(client.run(os.getpid).values()))
        submitted = []

        def killed():
            return doomed not in client.run(os.getpid, on_error="return").values()

        with executors.executor_of(cluster.scheduler_address.replace("tcp", "dask")) as executor:
            submit = executor.submit

            def submit_and_kill(*task):
                submitted.append(submit(*task))
                if len(submitted) == 1:
                    submitted[0].add_done_callback(lambda _: os.kill(doomed, signal.SIGKILL))
                return submitted[-1]

            executor.submit = submit_and_kill
            report = ptxaudit.audit(files, executor=executor)
        end = time.monotonic() + 60
        while not killed() and time.monotonic() < end:
            time.sleep(0.05)
        print(json.dumps([report.to_dict(), len(submitted), killed()]))
"""


def test_killed_dask_worker_loses_nothing(here):
    """A worker of Dask: nothing is lost, and nothing appears twice."""
    pytest.importorskip("distributed")
    (here / "cluster.py").write_text(_CLUSTER)
    files = []
    for at in range(40):
        files.append(f"f{at}.ptx")
        (here / files[-1]).write_text(several([f"f{at}_{n}" for n in range(2)]))
    done = subprocess.run([sys.executable, "cluster.py", *files], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    report, submitted, killed = json.loads(done.stdout.splitlines()[-1])
    assert submitted > 2 and killed
    assert report == json.loads(ptxaudit.audit(files).to_json())
    assert set(Counter(kernel["name"] for kernel in report["kernels"]).values()) == {1}
