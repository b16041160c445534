"""Audits a folder of PTX files with nothing specified, kernel by kernel: which share of their sites is answered?

    python -m bench.corpus FOLDER [-o bench/corpus.json] [-j 2] [--budget 10] [--ptxas 1] [--only GLOB]

FOLDER has one folder per package, each with PTX files. Every kernel is audited separately, with a limit of `--budget`
seconds; a fault or a time-out in one never stops the others. ptxas assembles every `--ptxas`th file right after its
audit, in the same process slot, so that the two times can be compared. If interrupted, it sums up what is done. The
results file has only names and counts, no third-party code. Seconds are processor time, which a busy machine does not
change; the engine's own budget is in steps, and set very high.

A site is *answered* if its status is one of

    exact, invariant, conditional          by definition
    unreached                              proved never to run
    bounded                                if high <= 2 * low, or if no counter counts it (cp.async.cg) and its
                                           lines are specified
    data-dependent                         if its range is specified: without the data no more can be known

The results also have the share if data-dependent sites do not count as answered.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from bench.processor_time import TooLong, at_most
from ptxaudit.base.errors import InputError
from ptxaudit.base.quiet import collect_seldom
from ptxaudit.base.version import __version__
from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import SiteResult, Status
from ptxaudit.frontend.compile import ptxas
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.frontend.ptx.spread import spread
from ptxaudit.hardware.machines import get as machine_of
from ptxaudit.ir import graph
from ptxaudit.ir.link import link
from ptxaudit.ir.reasons import Kind, sentence

BUDGET = 10.0  # seconds per kernel: the goal is that none needs them
PATIENCE = 8  # factor of the engine's own budget, so that the limit on time decides
RATIO = 2  # a range is an answer if its high end is at most this many times its low end
NAME_LENGTH = 96  # names of template instances can have thousands of letters
TOP = 40  # reasons listed
LONGEST = 5  # files left out of the second ratio to ptxas
BY_MEANING = (Status.EXACT, Status.INVARIANT, Status.CONDITIONAL, Status.UNREACHED)


@dataclass(frozen=True)
class KernelRecord:
    """The results for one kernel. sites: by status; open: the reasons of unanswered sites, with their numbers."""

    name: str
    package: str
    file: str
    seconds: float
    sites: dict[str, int] = field(default_factory=dict)
    answered: int = 0
    data_dependent: int = 0  # of those answered
    open: dict[str, int] = field(default_factory=dict)
    fault: str = ""  # "", "time-out", or the exception and where it was raised


@dataclass(frozen=True)
class FileRecord:
    """One file. seconds: processor time for reading it and auditing all of its kernels."""

    file: str
    megabytes: float
    seconds: float
    kernels: tuple[KernelRecord, ...] = ()
    fault: str = ""


# --- one site -------------------------------------------------------------------------------


def answers(site: SiteResult) -> bool:
    """Whether a site has an answer per request, as the module's docstring defines it."""
    if site.status in BY_MEANING:
        return True
    if site.line_class_max is not None:
        return True
    if site.per_request is None or min(site.per_request) < 0:
        return False
    low, high = site.per_request
    return site.status is Status.DATA_DEPENDENT or site.status is Status.BOUNDED and high <= RATIO * low


def reason_class(reason: str) -> str:
    """A reason without the names and numbers of one kernel, so that similar reasons are counted together."""
    reason = re.sub(r"%\w+(\.\w+)?", "%r", reason)
    reason = re.sub(r"\b\w*[_$]\w+\b", "NAME", reason)
    return re.sub(r"@?\b\d+\b", "N", reason)[:160]


def short(name: str) -> str:
    """A name cut to NAME_LENGTH letters, still distinct from every other."""
    if len(name) <= NAME_LENGTH:
        return name
    return f"{name[: NAME_LENGTH - 9]}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"


# --- one file -------------------------------------------------------------------------------


def audit_file(path: Path, package: str, budget: float = BUDGET) -> FileRecord:
    """Audits all kernels of a file that have sites."""
    start = time.process_time()
    text = path.read_text(encoding="utf-8", errors="replace")
    taken = lambda: round(time.process_time() - start, 4)
    try:
        module = lift_module(parse_module(text, path.name))
    except InputError as error:
        return FileRecord(path.name, len(text) / 1e6, taken(), fault=str(error))
    except Exception as error:  # this module looks for crashes
        return FileRecord(path.name, len(text) / 1e6, taken(), fault=_place(error))
    kernels = tuple(
        record for kernel in module.kernels() if (record := _audit_kernel(module, kernel, package, path.name, budget))
    )
    return FileRecord(path.name, len(text) / 1e6, taken(), kernels)


def _audit_kernel(module, kernel, package: str, file: str, budget: float) -> KernelRecord | None:
    """Audits one kernel; None if it has no sites."""
    start = time.process_time()
    fault, sites = "", ()
    try:
        with at_most(budget):
            machine = machine_of(kernel.arch)
            function = spread(link(module, kernel), machine.fragments)
            flow = graph.build(function)
            if not flow.sites():
                return None
            sites = engine.evaluate(
                function, flow, machine=machine, account=Account.for_budget(PATIENCE * budget)
            ).sites
    except TooLong:
        fault = "time-out"
    except InputError as error:
        fault = str(error)
    except Exception as error:
        fault = _place(error)
    if any(site.reason is not None and site.reason.of_kind(Kind.EXHAUSTED) for site in sites):
        fault = "time-out"
    answered = [site for site in sites if answers(site)]
    unanswered = [site for site in sites if not answers(site)]
    return KernelRecord(
        short(kernel.name),
        package,
        file,
        round(time.process_time() - start, 3),
        dict(sorted(Counter(str(site.status) for site in sites).items())),
        len(answered),
        sum(site.status is Status.DATA_DEPENDENT for site in answered),
        dict(Counter(f"{site.status}: {reason_class(sentence(site.reason, function))}" for site in unanswered)),
        fault,
    )


def _place(error: Exception) -> str:
    """An exception in one line, with the innermost location in this project."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "ptxaudit" in f.filename] or frames
    return f"{type(error).__name__}: {str(error)[:120]} ({Path(ours[-1].filename).name}:{ours[-1].lineno})"


@dataclass(frozen=True)
class Assembled:
    """ptxas's processor seconds for a file, and why it rejected the file, or ""."""

    seconds: float
    refused: str = ""


def assemble_file(path: Path) -> Assembled:
    """Runs ptxas once, with its default optimisation."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    text = path.read_text(encoding="utf-8", errors="replace")
    refused = ""
    for options in ((), ("--compile-only",)):  # functions of another module are unresolved
        start = spent()
        try:
            ptxas.assemble(text, options=options, file=path.name)
            return Assembled(spent() - start)
        except InputError as error:
            refused = str(error)
    return Assembled(0.0, refused)


def _begin() -> None:
    """Makes a worker its own session, for the scheduler, and collects garbage as seldom as the command does."""
    os.setsid()
    collect_seldom()


def one_file(task: tuple[Path, str, bool], budget: float) -> tuple[FileRecord, Assembled | None]:
    path, package, with_ptxas = task
    return audit_file(path, package, budget), assemble_file(path) if with_ptxas else None


# --- all files ------------------------------------------------------------------------------


def run(
    folder: Path,
    *,
    jobs: int = 2,
    budget: float = BUDGET,
    ptxas_every: int = 1,
    only: str = "*",
    progress=lambda line: None,
) -> dict:
    """Audits the folder; returns the results as plain JSON; see `summary`. ptxas_every: 0 = ptxas is not timed."""
    name = lambda path: str(path.relative_to(folder))
    paths = [path for path in folder.rglob("*.ptx") if fnmatch.fnmatch(name(path), only)]
    paths.sort(key=lambda path: hashlib.sha256(name(path).encode()).digest())  # so that a part of them is a fair sample
    tasks = [
        (
            path,
            path.relative_to(folder).parts[0] if path.parent != folder else folder.name,
            bool(ptxas_every) and at % ptxas_every == 0,
        )
        for at, path in enumerate(paths)
    ]
    done: list[tuple[FileRecord, Assembled | None]] = []
    with ProcessPoolExecutor(jobs, initializer=_begin) as pool:
        try:
            for path, (record, assembled) in zip(paths, pool.map(partial(one_file, budget=budget), tasks)):
                done.append((record, assembled))
                theirs = f", ptxas {assembled.seconds:.1f} s {assembled.refused}" if assembled else ""
                progress(
                    f"{path.relative_to(folder)}: {len(record.kernels)} kernels, {record.seconds:.1f} s"
                    f" {record.fault}{theirs}"
                )
        except KeyboardInterrupt:
            progress(f"interrupted after {len(done)} of {len(paths)} files")
            pool.shutdown(wait=False, cancel_futures=True)
    return summary(done, budget)


def summary(done: list[tuple[FileRecord, Assembled | None]], budget: float) -> dict:
    """Sums over all kernels, by package and by reason, and a line per kernel."""
    files = [record for record, _ in done]
    kernels = [kernel for file in files for kernel in file.kernels]
    status, reasons, kernels_with = Counter(), Counter(), Counter()
    packages: dict[str, Counter] = defaultdict(Counter)
    for k in kernels:
        status.update(k.sites)
        reasons.update(k.open)
        kernels_with.update(k.open.keys())
        packages[k.package].update(kernels=1, sites=sum(k.sites.values()), answered=k.answered)
    sites = sum(status.values())
    answered = sum(k.answered for k in kernels)
    data = sum(k.data_dependent for k in kernels)
    crashes = [
        {"kernel": k.name, "file": k.file, "what": k.fault} for k in kernels if k.fault and k.fault != "time-out"
    ]
    return {
        "tool": f"ptxaudit {__version__}",
        "budget_seconds": budget,
        "files": len(files),
        "kernels": len(kernels),
        "sites": sites,
        "status": dict(status.most_common()),
        "answered": answered,
        "answered_share": _share(answered, sites),
        "answered_share_without_data_dependent": _share(answered - data, sites),
        "answered_share_mean_over_kernels": _share(
            sum(k.answered / sum(k.sites.values()) for k in kernels if k.sites), sum(bool(k.sites) for k in kernels)
        ),
        "crashes": crashes + [{"kernel": None, "file": f.file, "what": f.fault} for f in files if f.fault],
        "time_outs": [{"kernel": k.name, "file": k.file} for k in kernels if k.fault == "time-out"],
        "processor_seconds": _seconds(done),
        "packages": {
            name: dict(counts) | {"share": _share(counts["answered"], counts["sites"])}
            for name, counts in sorted(packages.items())
        },
        "open_reasons": [{"reason": r, "sites": n, "kernels": kernels_with[r]} for r, n in reasons.most_common(TOP)],
        "per_kernel": [{key: value for key, value in asdict(k).items() if value not in ("", {}, 0)} for k in kernels],
    }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _seconds(done: list[tuple[FileRecord, Assembled | None]]) -> dict:
    """Processor seconds: of all files, and compared with ptxas for the files that it assembled."""
    compared = [(record, assembled) for record, assembled in done if assembled and not assembled.refused]
    ours, theirs = sum(record.seconds for record, _ in compared), sum(assembled.seconds for _, assembled in compared)
    shorter = sorted(compared, key=lambda pair: pair[1].seconds)[
        :-LONGEST
    ]  # a few files take ptxas minutes: do they decide?
    return {
        "audit": round(sum(record.seconds for record, _ in done), 1),
        "files_given_to_ptxas": len(compared),
        "audit_of_these": round(ours, 1),
        "ptxas_of_these": round(theirs, 1),
        "ratio": _share(ours, theirs),
        "without": LONGEST,
        "ratio_without": _share(
            sum(record.seconds for record, _ in shorter), sum(assembled.seconds for _, assembled in shorter)
        ),
    }


def show(results: dict) -> str:
    """The head of the results as text."""
    seconds = results["processor_seconds"]
    lines = [
        (
            f"{results['kernels']} kernels of {len(results['packages'])} packages, {results['sites']} sites:"
            f" {results['answered_share'] or 0:.1%} answered"
            f" ({results['answered_share_without_data_dependent'] or 0:.1%} without data-dependent ones,"
            f" {results['answered_share_mean_over_kernels'] or 0:.1%} of a kernel's sites in the mean),"
            f" {len(results['crashes'])} crashes, {len(results['time_outs'])} time-outs"
        ),
        "  " + ", ".join(f"{name} {count}" for name, count in results["status"].items()),
        (
            f"  audit {seconds['audit']} s of processor time; on {seconds['files_given_to_ptxas']} of"
            f" {results['files']} files audit {seconds['audit_of_these']} s, ptxas {seconds['ptxas_of_these']} s: ratio"
            f" {seconds['ratio']}, without the {seconds['without']} that ptxas takes longest for"
            f" {seconds['ratio_without']}"
        ),
        *(
            f"  {name:18} {p['kernels']:5} kernels {p['sites']:6} sites {p['share'] or 0:6.1%}"
            for name, p in results["packages"].items()
        ),
        *(f"  {r['sites']:6} sites {r['kernels']:5} kernels  {r['reason']}" for r in results["open_reasons"][:25]),
        *(f"  crash: {c['file']} {c['kernel']}: {c['what']}" for c in results["crashes"]),
        *(f"  time-out: {c['file']} {c['kernel']}" for c in results["time_outs"]),
    ]
    return "\n".join(lines)


def written(results: dict) -> str:
    """The results file: a line per kernel, so that changes are readable."""
    head = json.dumps({k: v for k, v in results.items() if k != "per_kernel"}, indent=1, ensure_ascii=False)
    rows = ",\n".join("  " + json.dumps(k, ensure_ascii=False) for k in results["per_kernel"])
    return f'{head[:-2]},\n "per_kernel": [\n{rows}\n ]\n}}\n'


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("-o", "--output", type=Path, help="the results file to write")
    arguments.add_argument("-j", "--jobs", type=int, default=2)
    arguments.add_argument("--budget", type=float, default=BUDGET, help="seconds a kernel")
    arguments.add_argument(
        "--ptxas", type=int, default=1, metavar="N", help="time ptxas on every Nth file; 0 = on none"
    )
    arguments.add_argument("--only", default="*", help="a glob over the files' paths in FOLDER")
    options = arguments.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    results = run(
        options.folder,
        jobs=options.jobs,
        budget=options.budget,
        ptxas_every=options.ptxas,
        only=options.only,
        progress=lambda line: print(line, file=sys.stderr, flush=True),
    )
    print(show(results))
    if options.output:
        options.output.write_text(written(results), encoding="utf-8")
    return 1 if results["crashes"] or results["time_outs"] else 0


if __name__ == "__main__":
    sys.exit(main())
