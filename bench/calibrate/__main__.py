"""The command line of `bench.calibrate`."""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="assemble the kernels")
    command.add_argument("folder", type=Path)
    command.add_argument("--arch", default="sm_90")
    command = commands.add_parser("plan", help="write the requests")
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--arch", default="sm_90")
    command.add_argument(
        "--part", default="classes,zeros,copies,matrices,instructions", help="one or several, with commas"
    )
    command.add_argument("--only", default="*", help="kernels, as globs with commas between")
    command = commands.add_parser("launch", help="launch every request once (what measure runs under ncu)")
    command.add_argument("folder", type=Path)
    command.add_argument("plan", type=Path)
    command = commands.add_parser("measure", help="run under ncu")
    command.add_argument("folder", type=Path)
    command.add_argument("plan", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--seconds", type=float, default=3600, help="stop after this time")
    command.add_argument("--chunk", type=int, default=400, help="launches a process of the profiler")
    command = commands.add_parser(
        "launch-tensor", help="wgmma and bulk tensor copies once (what measure-tensor runs under ncu)"
    )
    command.add_argument("folder", type=Path)
    command.add_argument("--timed", action="store_true")
    command.add_argument("--only", default="*", help="kernels, as a glob")
    command = commands.add_parser("measure-tensor", help="wgmma and bulk tensor copies under ncu")
    command.add_argument("folder", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument(
        "--only", default="*", help="kernels that are counted, as a glob; copies are timed all the same"
    )
    command = commands.add_parser("launch-timing", help="what is timed, once (what measure-timing runs under ncu)")
    command.add_argument("folder", type=Path)
    command.add_argument("--only", default="*", help="kernels, as globs")
    command = commands.add_parser("measure-timing", help="time what no counter tells, and count the accesses among it")
    command.add_argument("folder", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--only", default="*", help="kernels, as globs")
    command = commands.add_parser("build-forms", help="assemble forms of warpgroup products and bulk copies")
    command.add_argument("folder", type=Path)
    command = commands.add_parser("launch-forms", help="each form once and several times (what measure-forms runs)")
    command.add_argument("folder", type=Path)
    command.add_argument("--only", default="*", help="forms, as globs with commas between")
    command = commands.add_parser("measure-forms", help="what each form adds to the counters, under ncu")
    command.add_argument("folder", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--only", default="*", help="forms, as globs with commas between")
    command = commands.add_parser("merge", help="join data files of one device")
    command.add_argument("files", type=Path, nargs="+")
    command.add_argument("-o", "--output", type=Path, required=True)
    command = commands.add_parser("add-forms", help="list the forms of a data file in ptxaudit/hardware/measurements")
    command.add_argument("--machine", default="sm_90", help="whose file it is")
    command.add_argument("file", type=Path)
    command = commands.add_parser("count", help="count the requests of data files into ptxaudit/hardware/measurements")
    command.add_argument("--machine", default="sm_90", help="whose file it is")
    command.add_argument("files", type=Path, nargs="+")
    chosen = vars(parser.parse_args())
    match chosen.pop("command"):
        case "build":
            from bench.calibrate.build import build as run
        case "plan":
            from bench.calibrate.plan import write as run
        case "launch":
            from bench.calibrate.measure import launch as run
        case "measure":
            from bench.calibrate.measure import measure as run
        case "merge":
            from bench.calibrate.tables import merge as run
        case "count":
            from bench.calibrate.tables import count as run
        case "launch-tensor":
            from bench.calibrate.tensor import launch as run
        case "launch-timing":
            from bench.calibrate.timing import launch_all as run
        case "measure-timing":
            from bench.calibrate.measure import measure_timing as run
        case "add-forms":
            from bench.calibrate.tables import add_forms as run
        case "build-forms":
            from bench.calibrate.forms import build as run
        case "launch-forms":
            from bench.calibrate.forms import launch as run
        case "measure-forms":
            from bench.calibrate.measure import measure_forms as run
        case "measure-tensor":
            from bench.calibrate.measure import measure_tensor as run
    if "plan" in chosen:
        chosen["plan_path"] = chosen.pop("plan")
    run(**chosen)


main()
