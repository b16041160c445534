"""Joins data files, and writes how many requests of each instruction they have into `ptxaudit/hardware/measured.py`.

merge([Path("a.json.gz"), Path("b.json.gz")], Path("both.json.gz"))     one device and one profiler
count([Path("tests/data/requests_sm90.json.gz"), …])                     rewrites the table; files of timings count, too
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

MEASURED = Path(__file__).resolve().parent.parent.parent / "ptxaudit" / "hardware" / "measured.py"
_ORDER = ("LDS", "STS", "LD", "ST", "ATOMS", "ATOM", "LDSM", "STSM", "LDGSTS", "atom", "red")
_WIDE = 130
_BEGIN, _END = "MEASURED = {\n", "\n}"
# kernels of `timing` that time cp.async.cg, which no counter sees: their machine instruction
_TIMED = {
    "cg": "LDGSTS.E.BYPASS.128",
    "cg_ignore": "LDGSTS.E.BYPASS.128",
    "cg_size": "LDGSTS.E.BYPASS.128.ZFILL",
    "cg_l2_128": "LDGSTS.E.BYPASS.LTC128B.128",
}


def merge(files: list[Path], output: Path) -> None:
    """All requests of the files in one, in order; every head must be the same. Raises SystemExit otherwise."""
    documents = [json.loads(gzip.decompress(file.read_bytes())) for file in files]
    heads = [{key: document[key] for key in document if key not in ("n", "requests")} for document in documents]
    if any(head != heads[0] for head in heads):
        raise SystemExit("the files are not of one device, driver and profiler")
    requests = [one for document in documents for one in document["requests"]]
    joined = heads[0] | {"n": len(requests), "requests": requests}
    output.write_bytes(gzip.compress(json.dumps(joined, separators=(",", ":")).encode(), mtime=0))
    print(f"{output}: {len(requests)} requests")


def counted(files: list[Path]) -> Counter[str]:
    """{machine instruction, and PTX opcode of a loop: requests}; of cp.async.cg, which no counter sees, those that were
    timed.
    """
    found: Counter[str] = Counter()
    for file in files:
        if file.suffix == ".jsonl":
            found["LDGSTS.E.BYPASS.128"] += len(file.read_text().splitlines())
            continue
        for one in json.loads(gzip.decompress(file.read_bytes())).get("timed", ()):
            if one["kernel"].startswith("cg"):
                found[_TIMED.get(one["kernel"], "LDGSTS.E.BYPASS.128")] += 1
        for one in json.loads(gzip.decompress(file.read_bytes())).get("requests", ()):
            if one["wavefronts"] is None or "BYPASS" in one["sass"]:
                continue
            found[one["sass"].split(", ")[-1]] += 1
            if "loop" in one:
                found[one["ptx"]] += 1
    return found


def count(files: list[Path]) -> None:
    """Rewrites the table of `ptxaudit/hardware/measured.py`."""
    found = counted(files)
    lines, line, head = [], "   ", ""
    for opcode in sorted(found, key=lambda opcode: (_ORDER.index(opcode.split(".")[0]), "BYPASS" in opcode, opcode)):
        item = f' "{opcode}": {found[opcode]},'
        if line.strip() and (len(line) + len(item) > _WIDE or opcode.split(".")[0] != head):
            lines.append(line)
            line = "   "
        line, head = line + item, opcode.split(".")[0]
    text = MEASURED.read_text(encoding="utf-8")
    start, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END, text.index(_BEGIN))
    MEASURED.write_text(text[:start] + "\n".join([*lines, line]) + text[end:], encoding="utf-8")
    print(f"{MEASURED}: {len(found)} opcodes")
