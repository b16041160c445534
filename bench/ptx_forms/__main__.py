"""The command line of `bench.ptx_forms`."""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ptx_forms", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("plan", help="choose programs, and assemble them")
    command.add_argument("folder", type=Path)
    command.add_argument("--seed", type=int, default=1)
    command = commands.add_parser("check", help="compare what a GPU computed with the engine")
    command.add_argument("folder", type=Path)
    command.add_argument("measured", type=Path, help="what measure.py wrote")
    command = commands.add_parser("keep", help="write some of what was measured as data of the tests")
    command.add_argument("file", type=Path)
    command.add_argument("folder", type=Path)
    command.add_argument("measured", type=Path)
    command.add_argument("--most", type=int, default=6000, help="programs")
    commands.add_parser("unmodelled", help="list opcodes that ptxas accepts and no row gives a meaning")
    chosen = parser.parse_args()
    if chosen.command == "plan":
        from bench.ptx_forms.plan import write

        print(f"{write(chosen.folder, chosen.seed)} programs")
    elif chosen.command == "unmodelled":
        from bench.ptx_forms.plan import unmodelled

        print("\n".join(unmodelled()))
    elif chosen.command == "keep":
        from bench.ptx_forms.keep import keep

        print(f"{keep(chosen.folder, chosen.measured, chosen.most, chosen.file)} programs")
    else:
        from bench.ptx_forms.check import report

        print(report(chosen.folder, chosen.measured))


if __name__ == "__main__":
    main()
