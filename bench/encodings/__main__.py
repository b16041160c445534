"""The command line of `bench.encodings`."""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.encodings", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("plan", help="choose instructions")
    command.add_argument("folder", type=Path)
    command.add_argument("paths", type=Path, nargs="*", help="cubins and libraries with code for sm_90")
    command.add_argument("--across", action="store_true", help="instructions that read other lanes, alone")
    command.add_argument("--seed", type=int, default=1)
    command = commands.add_parser("check", help="compare what a GPU computed with the engine")
    command.add_argument("folder", type=Path)
    command.add_argument("measured", type=Path, help="what measure.py wrote")
    command = commands.add_parser("keep", help="write some of what was measured as data of the tests")
    command.add_argument("file", type=Path)
    command.add_argument("folders", type=Path, nargs="+", help="of each run, the plan and what measure.py wrote")
    command.add_argument("--most", type=int, default=5000, help="instructions")
    chosen = parser.parse_args()
    if chosen.command == "keep":
        from bench.encodings.check import keep

        print(f"{keep(list(zip(chosen.folders[::2], chosen.folders[1::2])), chosen.most, chosen.file)} instructions")
    elif chosen.command == "plan":
        from bench.encodings.plan import write

        print(f"{write(chosen.folder, chosen.paths, chosen.seed, chosen.across)} instructions")
    else:
        from bench.encodings.check import report

        print(report(chosen.folder, chosen.measured))


if __name__ == "__main__":
    main()
