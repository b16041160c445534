"""The commands of `bench.adversary`, whose docstring lists them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.adversary import builds, plan, telling
from bench.adversary.generate import LAUNCHES, NAMES, program


def _seeds(text: str) -> list[int]:
    """Parses a list of seeds such as "17", "0:94" or "3,17,20:30"."""
    out: list[int] = []
    for part in text.split(","):
        first, colon, end = part.partition(":")
        out += range(int(first), int(end)) if colon else [int(first)]
    return out


def results_of(paths: list[Path]) -> list[Path]:
    """The files of results; a folder stands for its parts."""
    return [file for path in paths for file in (sorted(path.glob("part-*.json.gz")) if path.is_dir() else [path])]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.adversary", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("source", help="print the kernel of a seed")
    command.add_argument("seed", type=int)
    command.add_argument(
        "--feature", action="append", choices=NAMES, help="these features instead of those of the seed"
    )
    command = commands.add_parser("plan", help="compile builds of kernels and plan their launches")
    command.add_argument("folder", type=Path)
    command.add_argument("seeds", type=_seeds, help="as 0:94")
    command.add_argument("--builds", type=int, default=3, help="of a seed, by turns")
    command.add_argument("--build", action="append", choices=builds.EVERY, help="these builds instead")
    command.add_argument("--launches", type=int, default=LAUNCHES, help="of a build, at most")
    command.add_argument("--feature", action="append", choices=NAMES, help="each kernel of one of these, by turns")
    command.add_argument("-j", "--jobs", type=int, default=2)
    command = commands.add_parser("compare", help="hold all claims against what was counted")
    command.add_argument("folder", type=Path)
    command.add_argument("results", type=Path, nargs="+")
    command.add_argument("--telling", action="append", choices=telling.EVERY)
    command.add_argument("--seeds", type=_seeds, default=[])
    command.add_argument("--build", action="append", choices=builds.EVERY, default=[])
    command.add_argument("--isa", choices=("sass", "both"), default="both")
    command.add_argument("--space", choices=("shared", "all"), default="shared", help="all: also their sectors")
    command.add_argument("--quiet", action="store_true", help="tables only")
    command.add_argument("-j", "--jobs", type=int, default=2)
    _add_comparisons(commands)
    command = commands.add_parser("keep", help="take measured cubins out, as a set to be kept")
    command.add_argument("folder", type=Path)
    command.add_argument("results", type=Path)
    command.add_argument("-o", "--out", type=Path, required=True)
    command.add_argument("cubins", nargs="+")
    command = commands.add_parser("reduce", help="leave statements out while the claim about a site stays what it is")
    command.add_argument("folder", type=Path)
    command.add_argument("results", type=Path)
    command.add_argument("seed", type=int)
    command.add_argument("build", choices=builds.EVERY)
    command.add_argument("number", type=int, help="of the launch, as compare prints it")
    command.add_argument("place", type=lambda text: int(text, 0), help="of the site")
    command.add_argument("--telling", choices=telling.TELLINGS, default="told")
    command.add_argument("--plan", type=Path, help="write every kernel on the way as a plan, to be measured")
    return parser


def _add_comparisons(commands: Any) -> None:
    """The commands that need no measurements."""
    command = commands.add_parser("agree", help="hold claims against each other, with no GPU")
    command.add_argument("seeds", type=_seeds, nargs="?", default=[], help="as 0:94; of a plan: only these")
    command.add_argument("--plan", type=Path, metavar="FOLDER", help="the launches of this plan, already compiled")
    command.add_argument("--builds", type=int, default=2, help="of a seed, by turns")
    command.add_argument("--build", action="append", choices=builds.EVERY, default=[], help="these builds instead")
    command.add_argument("--arch", action="append", default=[], help="compiled for these instead of sm_90 and sm_90a")
    command.add_argument("-j", "--jobs", type=int, default=2)
    command = commands.add_parser("libraries", help="hold claims about library kernels against each other")
    command.add_argument("files", type=Path, nargs="+")
    command.add_argument("--arch", default="sm_90")
    command.add_argument("--images", type=int, default=26, help="of a file, at most")
    command.add_argument("--kernels", type=int, default=40, help="of an image, at most")
    command.add_argument("--launches", type=int, default=2, help="of a kernel")
    command.add_argument("-j", "--jobs", type=int, default=2)


def main() -> int:
    chosen = _parser().parse_args()
    match chosen.command:
        case "source":
            print(program(chosen.seed, tuple(chosen.feature) if chosen.feature else None).source(), end="")
        case "plan":
            only = tuple(chosen.build or ()), tuple(chosen.feature or ())
            plan.make(chosen.folder, chosen.seeds, chosen.builds, chosen.launches, chosen.jobs, *only)
        case "compare":
            return _compare(chosen)
        case "agree":
            return _agree(chosen)
        case "libraries":
            return _libraries(chosen)
        case "keep":
            from bench.adversary.keep import keep

            keep(chosen.folder, results_of([chosen.results]), chosen.out, chosen.cubins)
        case "reduce":
            from bench.adversary.reduce import reduce

            reduce(
                chosen.folder,
                results_of([chosen.results]),
                chosen.seed,
                chosen.build,
                chosen.number,
                chosen.place,
                chosen.telling,
                chosen.plan,
            )
    return 0


def _agree(chosen: argparse.Namespace) -> int:
    from bench.adversary import agree

    if chosen.plan:
        return _clashes(agree.run_plan(chosen.plan, chosen.jobs, chosen.seeds, chosen.build))
    return _clashes(agree.run(chosen.seeds, chosen.builds, chosen.jobs, chosen.build, chosen.arch))


def _libraries(chosen: argparse.Namespace) -> int:
    from bench.adversary import libraries

    return _clashes(
        libraries.run(chosen.files, chosen.arch, chosen.images, chosen.kernels, chosen.launches, chosen.jobs)
    )


def _clashes(checked: Iterable[tuple[Sequence[object], int]]) -> int:
    """1 if any claims contradict each other."""
    clashes = sites = 0
    for found, count in checked:
        sites += count
        clashes += len(found)
        for clash in found:
            print(clash, flush=True)
    print(f"{sites:,} sites, {clashes} clashes")
    return int(clashes > 0)


def _compare(chosen: argparse.Namespace) -> int:
    """Exits with status 1 if any claim is wrong."""
    from bench.adversary import report
    from bench.adversary.check import check
    from bench.adversary.claims import Verdict

    found = list(
        check(
            chosen.folder,
            results_of(chosen.results),
            tuple(chosen.telling or telling.TELLINGS),
            chosen.jobs,
            chosen.seeds,
            chosen.build,
            chosen.isa,
            chosen.space,
        )
    )
    print(report.text(found, not chosen.quiet))
    return int(any(one.error or any(f.verdict is Verdict.WRONG for f in one.findings) for one in found))


if __name__ == "__main__":
    sys.exit(main())
