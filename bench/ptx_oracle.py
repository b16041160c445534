"""Runs the printer's oracle over any folder of PTX files: `python bench/ptx_oracle.py FOLDER [-j 2]`.

Each file is parsed, printed, disguised (tests/ptx_oracle.py) and assembled with ptxas; the machine
code has to be the same. Files that ptxas itself refuses are named and left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import ptx_oracle                                   # noqa: E402
from ptxaudit.errors import InputError              # noqa: E402
from ptxaudit.ptx.parse import parse_module, parse_plain        # noqa: E402


def one(path: Path) -> tuple[str, str]:
    """("same" | "refused by ptxas" | "DIFFERS" | "NOT PARSED", detail) of a file."""
    text = path.read_text()
    try:
        module = parse_module(text, str(path))
    except InputError as error:
        return "NOT PARSED", str(error)
    if module != parse_plain(text):
        return "DIFFERS", "the parsers differ"
    refused = ""
    for options in ((), ("--compile-only",)):           # functions of another module stay open
        try:
            ptx_oracle.machine_code(text, None, options)
            break
        except InputError as error:
            refused = error.detail[:200] or error.what
    else:
        return "refused by ptxas", refused
    try:
        ptx_oracle.check(text, None, options)
    except (AssertionError, InputError) as error:
        return "DIFFERS", f"{error} {getattr(error, 'detail', '')}"[:400]
    return "same", ""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("-j", "--jobs", type=int, default=2)
    options = arguments.parse_args()
    paths = sorted(options.folder.rglob("*.ptx"))
    counts: dict[str, int] = {}
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for path, (outcome, detail) in zip(paths, pool.map(one, paths)):
            counts[outcome] = counts.get(outcome, 0) + 1
            if outcome != "same":
                print(f"{path}: {outcome}: {detail}")
    print(f"{len(paths)} modules in {time.perf_counter() - start:.0f} s:", counts)
    return 1 if set(counts) - {"same", "refused by ptxas"} else 0


if __name__ == "__main__":
    sys.exit(main())
