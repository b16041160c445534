"""A command that is interrupted or loses a process: the files it leaves, the content of its report, and its exit
status.
"""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import run
from kernels import PTX

import ptxaudit
from ptxaudit.base import processes
from ptxaudit.frontend.options import Options
from ptxaudit.review.divided import Piece
from ptxaudit.review.pool import audited

WATCHDOG = 120  # seconds: for a very busy machine
SLOW_TOOL = "#!/bin/sh\necho $$ >> {said}\nsleep 600 &\nsleep 600\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with files, an empty folder for temporary files, and an environment without settings of this
    test run.
    """
    (tmp_path / "work").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    for number in range(6):
        Path(f"k{number}.ptx").write_text(PTX.replace("stride", f"stride{number}"))
    return tmp_path


def slow_assembler(here):
    """A toolchain whose ptxas does not terminate and starts a child process; the file to which it writes its process
    ID.
    """
    said = here / "said"
    tool = here / "cuda" / "bin" / "ptxas"
    tool.parent.mkdir(parents=True)
    tool.write_text(SLOW_TOOL.format(said=said))
    tool.chmod(0o755)
    return said


def _interruptible() -> None:
    """A shell starts background commands with interrupts ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(here, *options, **more):
    """The command, once it runs a tool that does not terminate."""
    said = slow_assembler(here)
    code = (
        "import sys; from ptxaudit.frontend.compile import toolchains as t; t.find = lambda kind: (t.Tool(kind,"
        f" {str(here / 'cuda/bin/ptxas')!r}, 'test'),); from ptxaudit.ui.cli import main; main()"
    )
    if "--jobs" in options:  # the worker processes of an audit find their tools themselves
        more.setdefault(
            "env",
            os.environ
            | {
                "PATH": f"{here / 'cuda/bin'}:{os.environ['PATH']}",
                "PYTHONPATH": f"{here / 'site'}:{os.environ.get('PYTHONPATH', '')}",
            },
        )
        (here / "site").mkdir()
        (here / "site" / "sitecustomize.py").write_text(
            code.partition("; from ptxaudit.ui.cli")[0].replace("import sys; ", "")
        )
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            code,
            "audit",
            *map(str, sorted(Path().glob("k*.ptx"))),
            "--isa",
            "both",
            "--no-cache",
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,
        **more,
    )
    wanted = 2 if "--jobs" in options else 1
    end = time.monotonic() + WATCHDOG
    while not said.exists() or len(said.read_text().split()) < wanted:
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    return child


@pytest.mark.parametrize("options", [(), ("--jobs", "2")], ids=["one", "jobs"])
@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_command_leaves_no_files(here, number, status, options):
    Path("report.json").write_text("as it was")
    child = started(here, "--format", "json", "-o", "report.json", *options)
    family = processes.below(child.pid)
    assert family
    child.send_signal(number)
    out, err = child.communicate(timeout=WATCHDOG)
    assert child.returncode == status, err
    assert "Traceback" not in err and err.startswith("ptxaudit: ")
    assert not [process for process in family if _runs(process)]
    assert not list((here / "tmp").iterdir())
    assert Path("report.json").read_text() == "as it was" and not [
        path for path in Path().iterdir() if path.name.startswith(".")
    ]


def _runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_killed_worker_loses_no_other_file(here):
    child = started(here, "--jobs", "2", "--format", "json")
    (here / "cuda" / "bin" / "ptxas").write_text("#!/bin/sh\nexit 1\n")  # from now on it fails
    workers = [
        process
        for process in processes.below(child.pid)
        if "pool_worker" in Path(f"/proc/{process}/cmdline").read_text()
    ]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    for process in (here / "said").read_text().split():
        os.killpg(int(process), signal.SIGKILL)
    out, err = child.communicate(timeout=WATCHDOG)
    report = json.loads(out)
    assert child.returncode == 2 and len(report["problems"]) == 6, (
        err
    )  # ptxas's problems: every file was tried again, or continued


DEADLY = """
import os, signal
from ptxaudit.review import kept_parts as pipeline
audit_part = pipeline.audit_part
def ending(files, options):
    if any("k3" in file for file in files):
        os.kill(os.getpid(), signal.SIGKILL)
    return audit_part(files, options)
pipeline.audit_part = ending
"""


@pytest.mark.parametrize("shares", [[["k0.ptx", "k3.ptx", "k1.ptx"], ["k2.ptx"]], [["k3.ptx"], ["k0.ptx"]]])
def test_file_that_crashes_a_worker_is_a_problem(here, monkeypatch, shares):
    (here / "site").mkdir()
    (here / "site" / "sitecustomize.py").write_text(DEADLY)
    monkeypatch.setenv("PYTHONPATH", f"{here / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    parts = list(audited([Piece(tuple(files)) for files in shares], Options(), 2))
    assert [[kernel.input for kernel in part.kernels] for part in parts] == [
        [file for file in files if file != "k3.ptx"] for files in shares
    ]
    (problem,) = [problem for part in parts for problem in part.problems]
    assert problem.file == "k3.ptx" and "ended by SIGKILL" in problem.what and "--jobs" in problem.hint


def test_several_processes_give_the_report_of_one(here):
    files = sorted(map(str, Path().glob("*.ptx")))
    assert ptxaudit.audit(files, jobs=3) == ptxaudit.audit(files)


def test_workers_import_nothing_from_the_working_folder(here):
    for name in ("pickle", "struct", "multiprocessing", "numpy", "lark"):
        Path(f"{name}.py").write_text("open('planted', 'w')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ptxaudit", "audit", ".", "--jobs", "2", "--no-cache"],
        capture_output=True,
        text=True,
        timeout=WATCHDOG,
    )
    assert done.returncode == 0, done.stderr
    assert not Path("planted").exists()


# --- outputs --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "sarif", "html"])
def test_full_disk_is_a_message(here, form):
    done = run("audit", "k0.ptx", "--format", form, "-o", "/dev/full", status=2)
    assert "cannot write this file: No space left on device" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("audit", "k0.ptx"), ("audit", "k0.ptx", "--format", "json"), ("machines",), ("audit", "k0.ptx", "--list")],
)
def test_full_standard_output_is_a_message(here, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ptxaudit", *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=WATCHDOG
        )
    assert done.returncode == 2 and "cannot write to standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_output_replaces_a_file_atomically(here):
    Path("report.json").write_text("old")
    Path("report.json").chmod(0o640)
    os.symlink("report.json", "link.json")
    run("audit", "k0.ptx", "--format", "json", "-o", "link.json")
    assert json.loads(Path("report.json").read_text())["kernels"] and Path("link.json").is_symlink()
    assert stat.S_IMODE(os.stat("report.json").st_mode) == 0o640
    run("audit", "k0.ptx", "-o", "new.txt")
    assert stat.S_IMODE(os.stat("new.txt").st_mode) == 0o666 & ~_mask()


def _mask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "k0.ptx", "-o", "k0.ptx"),
        ("audit", "k0.ptx", "-o", "./k0.ptx"),
        ("audit", "k0.ptx", "-o", "hard.ptx"),
        ("audit", ".", "-o", "k0.ptx"),
        ("audit", "k0.ptx", "--launch", "l.toml", "-o", "l.toml"),
        ("audit", "k0.ptx", "--list", "-o", "k0.ptx"),
        ("launches", "k0.ptx", "-o", "k0.ptx"),
        ("diff", "k0.ptx", "k1.ptx", "-o", "k1.ptx"),
        ("explain", "k0.ptx", "x:1", "--dot", "k0.ptx"),
        ("baseline", "update", "k0.ptx", "k0.ptx"),
        ("compare", "k0.ptx", "k1.ptx", "-o", "k1.ptx"),
    ],
)
def test_input_is_never_overwritten(here, words):
    os.link("k0.ptx", "hard.ptx")
    Path("l.toml").write_text('[[launch]]\nkernel = "*"\nblock = 32\n')
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert "this is an input and would be overwritten" in run(*words, status=2).stderr
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
