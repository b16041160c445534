"""The command line of `bench.special_functions`."""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.special_functions", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="assemble the kernels into a folder, with measure.py beside them")
    command.add_argument("folder", type=Path)
    command.add_argument("--arch", default="sm_90")
    for name, words in (
        ("fit", "derive the coefficients and print the module that holds them"),
        ("check", "every input of every function against ptxaudit.engine.ops.mufu"),
        ("data", "write the files of tests/data"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument("measured", type=Path, help="what measure.py wrote")
        if name == "data":
            command.add_argument("-o", "--output", type=Path, required=True, help="a folder")
    chosen = vars(parser.parse_args())
    match chosen.pop("command"):
        case "build":
            from bench.special_functions.build import build as run
        case "fit":
            from bench.special_functions.fit import show as run
        case "check":
            from bench.special_functions.check import check as run
        case "data":
            from bench.special_functions.data import write as run
    run(**chosen)


if __name__ == "__main__":
    main()
