"""Builds, launches and measures the kernels of this folder.

python -m bench.memory build FOLDER                                anywhere: cubins and the plan
python -m bench.memory measure FOLDER -o FILE [--sets FOLDER…]     on a GPU
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

SOURCES = ("loads", "atomics", "copies", "local")


def build(folder: Path) -> None:
    """Compiles the kernels and writes the plan of launches."""
    from bench.memory.plan import indices_of, planned
    from ptxaudit.frontend.compile.nvrtc import compile_source

    folder.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        made = compile_source(Path(__file__).parent / f"{name}.cu", "sm_90")
        (folder / f"{name}.cubin").write_bytes(made.cubin)
    launches = planned()
    indices = {name: indices_of(name).tolist() for name in sorted({launch.indices for launch in launches})}
    document = {"compiler": made.compiler, "indices": indices, "launches": [asdict(launch) for launch in launches]}
    (folder / "plan.json").write_text(json.dumps(document))
    print(f"{len(launches)} launches of {len({(one.source, one.kernel) for one in launches})} kernels")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build")
    command.add_argument("folder", type=Path)
    command = commands.add_parser("launch")
    command.add_argument("folder", type=Path)
    command.add_argument("notes", type=Path)
    command.add_argument("first", type=int)
    command.add_argument("last", type=int)
    command = commands.add_parser("measure")
    command.add_argument("folder", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--sets", type=Path, nargs="*", default=[])
    command.add_argument("--seconds", type=float, default=240)
    chosen = parser.parse_args()
    if chosen.command == "build":
        return build(chosen.folder)
    from bench.memory import measure

    if chosen.command == "launch":
        return measure.launch_all(chosen.folder, chosen.notes, chosen.first, chosen.last)
    measure.measure(chosen.folder, chosen.output, chosen.sets, chosen.seconds)


if __name__ == "__main__":
    main()
