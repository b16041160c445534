"""The command line of `bench.shared_encodings`."""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.shared_encodings", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("plan", help="choose instructions")
    command.add_argument("folder", type=Path)
    command.add_argument("--seed", type=int, default=1)
    command = commands.add_parser("check", help="compare what a GPU computed with the lifted operations")
    command.add_argument("folder", type=Path)
    command.add_argument("measured", type=Path, help="what measure.py wrote")
    command.add_argument("counted", type=Path, help="the results of the plan that count wrote")
    command = commands.add_parser("count", help="plan kernels of the instructions, whose requests are to be counted")
    command.add_argument("folder", type=Path)
    command.add_argument("measured", type=Path, help="what measure.py wrote")
    command.add_argument("out", type=Path, help="a plan of bench.adversary")
    command = commands.add_parser("keep", help="write some of the measured instructions, to be compared in tests")
    command.add_argument("folder", type=Path)
    command.add_argument("measured", type=Path)
    command.add_argument("counted", type=Path)
    command.add_argument("file", type=Path)
    command.add_argument("--most", type=int, default=2500)
    chosen = parser.parse_args()
    if chosen.command == "plan":
        from bench.shared_encodings.plan import write

        print(f"{write(chosen.folder, chosen.seed)} instructions")
    elif chosen.command == "count":
        from bench.shared_encodings.counts import write as planned

        print(f"{planned(chosen.folder, chosen.measured, chosen.out)} instructions")
    elif chosen.command == "keep":
        from bench.shared_encodings.kept import keep

        print(f"{keep(chosen.folder, chosen.measured, chosen.counted, chosen.most, chosen.file)} instructions")
    else:
        from bench.shared_encodings.check import report

        print(report(chosen.folder, chosen.measured, chosen.counted))


if __name__ == "__main__":
    main()
