"""The commands of this package, which its docstring lists."""

from __future__ import annotations

import argparse
from pathlib import Path

import bench.repairs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.repairs", description=bench.repairs.__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="repair, compile and predict")
    command.add_argument("folder", type=Path)
    command.add_argument("--projects", type=Path, help="a folder with checkouts of projects.toml, as OWNER+NAME")
    command = commands.add_parser("run", help="launch everything once")
    command.add_argument("folder", type=Path)
    command.add_argument("--results", type=Path)
    command.add_argument(
        "--skip", type=lambda text: [int(at) for at in text.split(",") if at], default=[], help="numbers of launches"
    )
    command = commands.add_parser("measure", help="results, times and counts")
    command.add_argument("folder", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    command = commands.add_parser("document", help="write the table of docs/fixes.md")
    command.add_argument("measured", type=Path)
    chosen = vars(parser.parse_args())
    name = chosen.pop("command")
    if name == "build":
        from bench.repairs.build import build as command
    elif name == "document":
        from bench.repairs.document import document as command
    elif name == "run":
        from bench.repairs.measure import run as command
    else:
        from bench.repairs.measure import measure as command
    command(**chosen)


if __name__ == "__main__":
    main()
