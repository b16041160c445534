"""Prints cuxray's figure for each shared-memory access: run with the Python in which cuxray is installed.

    python cuxray_ways.py < jobs.json > ways.json      jobs: [[cubin, kernel, [x, y, z]], …]

For each job {offset in bytes: [opcode, bytes per lane, ways]}, of the first warp, with null if it gives no figure.
These are the accesses that `cuxray report` sums up by source line.
"""

import json
import sys
from importlib.metadata import version

from cuxray.analyze.access import analyze_accesses
from cuxray.parse import cfgdot, sass
from cuxray.toolchain import resolve


def graphs_of(cubin, tools):
    """The control flow of a cubin, as cuxray's commands use it: none if the disassembler gives none."""
    try:
        return cfgdot.parse(tools.run("nvdisasm", ["-cfg", cubin]))
    except Exception:
        return {}


def main():
    tools, parsed = resolve(allow_fetch=False, quiet=True), {}
    found = []
    for cubin, kernel, block in json.load(sys.stdin):
        if cubin not in parsed:
            parsed[cubin] = sass.parse_gi(tools.run("nvdisasm", ["-c", "-gi", cubin])), graphs_of(cubin, tools)
        functions, graphs = parsed[cubin]
        depths = graphs[kernel].loop_depth if kernel in graphs else {}
        said = analyze_accesses(functions.functions[kernel], tuple(block), depths)
        accesses = [one for one in said["accesses"] if one["space"] == "shared"]
        ways = {one["addr"]: [one["opcode"], one["width"], one["conflict_ways"]] for one in accesses}
        found.append({**{one["addr"]: None for one in said["unanalyzed"]}, **ways})
    json.dump({"version": version("cuxray"), "found": found}, sys.stdout)


if __name__ == "__main__":
    main()
