"""Times parsing PTX and assembling it: `python bench/ptx_parse.py FILE...`.

For each file: seconds of process time for the syntax tree and for the IR (the best of three), and for ptxas (user and
system time of one run), also per megabyte.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import ptxas
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module

ROUNDS = 3


def best(function, argument):
    """(result, the minimum process time of ROUNDS calls)."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        result = function(argument)
        times.append(time.process_time() - start)
    return result, min(times)


def assembling(text: str) -> float | None:
    """Process time of ptxas; None if it rejects the file."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start = spent()
    try:
        ptxas.assemble(text)
    except InputError:
        return None
    return spent() - start


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", nargs="+", type=Path)
    print(f"{'MB':>6} {'instructions':>12} {'parse s':>8} {'lift s':>7} {'ptxas s':>8} {'of ptxas':>9}  file")
    for path in arguments.parse_args().file:
        text = path.read_text()
        tree, parsing = best(parse_module, text)
        module, lifting = best(lift_module, tree)
        count = sum(len(f.instructions) for f in module.functions.values())
        reference = assembling(text)
        compared = f"{reference:8.2f} {(parsing + lifting) / reference:9.1%}" if reference else f"{'refused':>18}"
        print(f"{len(text) / 1e6:6.2f} {count:12} {parsing:8.3f} {lifting:7.3f} {compared}  {path.name}")


if __name__ == "__main__":
    main()
