"""Writes docs/coverage.md from the committed results: `python bench/coverage.py` (make coverage).

The results are those of bench/corpus.py (bench/corpus.json), of bench/specified.py (bench/specified.json), of
bench/corpus_memory.py (bench/corpus_memory.json) and of bench/ptx_oracle.py (bench/ptx_oracle.json).
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS, ORACLE, PAGE = ROOT / "bench" / "corpus.json", ROOT / "bench" / "ptx_oracle.json", ROOT / "docs" / "coverage.md"
MEMORY, SPECIFIED = ROOT / "bench" / "corpus_memory.json", ROOT / "bench" / "specified.json"
REASONS, REASONS_OF_MEMORY = 20, 8

MEANING = {
    "exact": "all figures of the launch hold",
    "invariant": "every request costs the same, whatever is not specified",
    "conditional": "a table of cases by what is not specified",
    "data-dependent": "depends on loaded data; a range",
    "bounded": "a proved range, answered where it is at most twice as high as low",
    "unreached": "proved never to run, or never to touch shared memory",
    "unknown": "no answer, with a reason",
}


ASKED = {"nothing": "nothing specified", "launch": "a launch specified"}


def of_memory(memory: dict) -> str:
    """The section on global and local memory."""
    percent = lambda share: "-" if share is None else f"{share:.1%}"
    rows = [
        f"| {space} | {words} | {one['sites']:,} | **{percent(one['answered_share'])}** |"
        f" {percent(one['answered_share_without_data_dependent'])} |"
        f" {', '.join(f'{status} {n:,}' for status, n in one['status'].items())} |"
        for space, asked in memory["memories"].items()
        for name, words in ASKED.items()
        for one in (asked[name],)
    ]
    reasons = [
        f"| {n:,} | {reason.replace('|', chr(92) + '|')} |"
        for reason, n in list(memory["memories"]["global"]["nothing"]["open_reasons"].items())[:REASONS_OF_MEMORY]
    ]
    spent = memory["processor_seconds"]["with_shared"]
    return "\n".join(
        (
            "## Global and local memory",
            "",
            f"{memory['kernels']:,} kernels out of {len(memory['packages'])} packages and projects"
            f" ({', '.join(memory['packages'])}), audited with `--space all`: with nothing specified, and with a launch of"
            " 4 blocks of 256 threads (or what the file says) whose pointers are multiples of 256 and whose other"
            " parameters are not specified. Made by `python -m bench.corpus_memory FOLDER -o bench/corpus_memory.json`,"
            " which says what is taken of which file.",
            "",
            "| memory | specified | sites | answered | without data-dependent | status |",
            "| --- | --- | ---: | ---: | ---: | --- |",
            *rows,
            "",
            "Of global memory, with nothing specified, these are open:",
            "",
            "| sites | reason |",
            "| ---: | --- |",
            *reasons,
            "",
            f"Processor time of kernels that access shared memory: {spent['shared']} s for it alone, {spent['nothing']} s"
            f" for all memories: {memory['all_over_shared']:.2f} times as much (the goal is 1.6);"
            f" {memory['all_over_shared_of_every_kernel']:.2f} times with the kernels that do not, which an audit of"
            " shared memory only reads.",
        )
    )


def of_launches(specified: dict) -> str:
    """The section on machine code with a launch and without."""
    rows = [
        f"| {name} | {one['kernels']} | {asked['sites']:,} | {ASKED[how]} | **{asked['share']:.1%}** |"
        f" {asked['median_of_ranges']:g} |"
        f" {', '.join(f'{status} {n:,}' for status, n in asked['status'].items())} |"
        for name, one in specified["packages"].items()
        for how in ASKED
        for asked in (one[how],)
    ]
    return "\n".join(
        (
            "## With a launch, and no data",
            "",
            f"Kernels of libraries as machine code ({specified['arch']}), audited with nothing specified, and with a launch: 64"
            " blocks of what the kernel was compiled for, or of 256 threads; numbers 100,000, pointers and structures not"
            " specified, and no data. The share is of sites that run whose figures are exact or the same for every request; where it"
            " is a range, the last figure is the median of its upper over its lower bound for one request. Kernels that take"
            " structures, of which nothing is specified, have rows of their own. Most of what stays"
            " open is decided by data: ranks, tables, searches. Made by `python -m bench.specified NAME=FILE… -o"
            " bench/specified.json`; the kernels of CUB are what nvcc makes of one call of each of its device algorithms (`python -m"
            " bench.cub_kernels FOLDER`).",
            "",
            "| package | kernels | sites | specified | exact or invariant | median of ranges | status |",
            "| --- | ---: | ---: | --- | ---: | ---: | --- |",
            *rows,
        )
    )


def page(corpus: dict, oracle: dict, memory: dict, specified: dict) -> str:
    """The page as Markdown."""
    seconds = corpus["processor_seconds"]
    rows = lambda items: "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in item) + " |" for item in items
    )
    percent = lambda share: "" if share is None else f"{share:.1%}"
    return f"""# How much of real code is answered

{corpus["kernels"]:,} kernels with {corpus["sites"]:,} shared-memory sites, from {len(corpus["packages"])} packages and projects (PTX that they ship, or that their compilers make of their sources), audited with **nothing specified**: no launch, no parameters, no block shape but that of the file. Made by `make coverage` from `bench/corpus.json`, which has a line a kernel; `bench/corpus.py` says what counts as answered and audits any folder of PTX.

**{percent(corpus["answered_share"])}** of the sites have an answer per request ({percent(corpus["answered_share_mean_over_kernels"])} of a kernel's sites in the mean over kernels; {percent(corpus["answered_share_without_data_dependent"])} when data-dependent ones, whose range is specified, are not counted). {len(corpus["crashes"])} crashes, {len(corpus["time_outs"])} time-outs at {corpus["budget_seconds"]:g} s a kernel.

| status | sites | meaning |
| --- | ---: | --- |
{rows((name, f"{count:,}", MEANING.get(name, "")) for name, count in corpus["status"].items())}

Processor time: {seconds["audit"]:,} s for everything. On the {seconds["files_given_to_ptxas"]} files that ptxas assembled beside the audit: {seconds["audit_of_these"]} s, ptxas {seconds["ptxas_of_these"]} s: {seconds["ratio"]:.2f} of ptxas's time, {seconds["ratio_without"]:.2f} without the {seconds["without"]} files that ptxas takes longest for (the goal is 0.5).

## Why the others are not

| sites | kernels | reason |
| ---: | ---: | --- |
{rows((f"{r['sites']:,}", r["kernels"], r["reason"]) for r in corpus["open_reasons"][:REASONS])}

## By package

| package | kernels | sites | answered |
| --- | ---: | ---: | ---: |
{rows((name, p["kernels"], f"{p['sites']:,}", percent(p["share"])) for name, p in corpus["packages"].items())}

{of_launches(specified)}

{of_memory(memory)}

Machine code out of packages: [machine_code.md](machine_code.md).

## The PTX parser

{oracle["modules"]} modules of these: parsed, printed with other names and spellings, and assembled by ptxas. {oracle["outcomes"].get("same", 0)} gave the machine code of the original (`bench/ptx_oracle.py`, `bench/ptx_oracle.json`; the modules that the tests compile themselves are checked by `tests/test_ptx_oracle.py`).
"""


def main() -> None:
    PAGE.write_text(
        page(*(json.loads(path.read_text("utf-8")) for path in (CORPUS, ORACLE, MEMORY, SPECIFIED))), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
