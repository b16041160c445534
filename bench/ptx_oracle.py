"""Runs the printer's oracle over any folder of PTX files.

    python bench/ptx_oracle.py FOLDER [-j 2] [--most KB] [-o bench/ptx_oracle.json]

Each file is parsed, printed, disguised (tests/support/ptx_oracle.py) and assembled with ptxas; the machine code must be the
same. Files that ptxas itself rejects are named and left out. The results file has the names of the files and the
outcome of each, by package (FOLDER has one folder per package).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import ptx_oracle

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.ptx.parse import parse_module, parse_plain


def one(path: Path) -> tuple[str, str]:
    """("same" | "refused by ptxas" | "DIFFERS" | "NOT PARSED", detail) for a file."""
    text = path.read_text()
    try:
        module = parse_module(text, str(path))
    except InputError as error:
        return "NOT PARSED", str(error)
    if module != parse_plain(text):
        return "DIFFERS", "the parsers differ"
    refused = ""
    for options in ((), ("--compile-only",)):  # functions of another module are unresolved
        try:
            ptx_oracle.machine_code(text, None, options)
            break
        except InputError as error:
            refused = error.detail[:200] or error.what
    else:
        return "refused by ptxas", refused
    try:
        ptx_oracle.check(text, module, None, options)
    except (AssertionError, InputError) as error:
        return "DIFFERS", f"{error} {getattr(error, 'detail', '')}"[:400]
    return "same", ""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("-j", "--jobs", type=int, default=2)
    arguments.add_argument("--most", type=int, help="leave out files of more kilobytes")
    arguments.add_argument("-o", "--output", type=Path)
    options = arguments.parse_args()
    paths = [
        path
        for path in sorted(options.folder.rglob("*.ptx"))
        if options.most is None or path.stat().st_size <= 1024 * options.most
    ]
    outcomes: dict[str, str] = {}
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for path, (outcome, detail) in zip(paths, pool.map(one, paths)):
            outcomes[str(path.relative_to(options.folder))] = outcome
            if outcome != "same":
                print(f"{path}: {outcome}: {detail}", flush=True)
    counts = Counter(outcomes.values())
    print(f"{len(paths)} modules in {time.perf_counter() - start:.0f} s:", dict(counts))
    if options.output:
        options.output.write_text(results(outcomes, counts), encoding="utf-8")
    return 1 if set(counts) - {"same", "refused by ptxas"} else 0


def results(outcomes: dict[str, str], counts: Counter) -> str:
    """The results as JSON: counts, packages, and the names of all files by outcome."""
    packages = Counter(name.partition("/")[0] for name, outcome in outcomes.items() if outcome == "same")
    by_outcome = {outcome: [name for name, found in outcomes.items() if found == outcome] for outcome in sorted(counts)}
    document = {
        "modules": len(outcomes),
        "outcomes": dict(counts),
        "same_by_package": dict(sorted(packages.items())),
        "files": by_outcome,
    }
    return json.dumps(document, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
