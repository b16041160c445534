"""Joins data files, and counts the requests of each instruction for `ptxaudit/hardware/measurements`.

merge([Path("a.json.gz"), Path("b.json.gz")], Path("both.json.gz"))     one device and one profiler
count([Path("tests/data/requests_sm90.json.gz"), …], "sm_90")            rewrites the table; includes files of timings
add_forms(Path("tests/data/forms_sm90.json.gz"), "sm_90")                extends the lists of products and uncounted
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

MEASUREMENTS = Path(__file__).resolve().parent.parent.parent / "ptxaudit" / "hardware" / "measurements"
_ORDER = ("LDS", "STS", "LD", "ST", "ATOMS", "ATOM", "LDSM", "STSM", "LDGSTS", "atom", "red")
_REQUESTS = re.compile(r'"requests": \{[^}]*\}')
# kernels of `timing` that time cp.async.cg, which no counter sees, with their machine instructions
_TIMED = {
    "cg": "LDGSTS.E.BYPASS.128",
    "cg_ignore": "LDGSTS.E.BYPASS.128",
    "cg_size": "LDGSTS.E.BYPASS.128.ZFILL",
    "cg_l2_128": "LDGSTS.E.BYPASS.LTC128B.128",
}


def merge(files: list[Path], output: Path) -> None:
    """Joins all requests of the files, in order. Raises SystemExit unless all heads are the same."""
    documents = [json.loads(gzip.decompress(file.read_bytes())) for file in files]
    heads = [{key: document[key] for key in document if key not in ("n", "requests")} for document in documents]
    if any(head != heads[0] for head in heads):
        raise SystemExit("the files are not of one device, driver and profiler")
    requests = [one for document in documents for one in document["requests"]]
    joined = heads[0] | {"n": len(requests), "requests": requests}
    output.write_bytes(gzip.compress(json.dumps(joined, separators=(",", ":")).encode(), mtime=0))
    print(f"{output}: {len(requests)} requests")


def counted(files: list[Path]) -> Counter[str]:
    """{machine instruction, or PTX opcode of a loop: requests}; for cp.async.cg, which no counter sees, timed ones."""
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


def count(files: list[Path], machine: str) -> None:
    """Rewrites the table of requests in the machine's file in `ptxaudit/hardware/measurements`."""
    found = counted(files)
    ordered = sorted(found, key=lambda opcode: (_ORDER.index(opcode.split(".")[0]), "BYPASS" in opcode, opcode))
    table = ",\n".join(f'    "{opcode}": {found[opcode]}' for opcode in ordered)
    file = MEASUREMENTS / f"{machine}.json"
    text, written = _REQUESTS.subn(f'"requests": {{\n{table}\n  }}', file.read_text(encoding="utf-8"))
    if not written:
        raise SystemExit(f'{file} has no "requests": {{}}')
    file.write_text(text, encoding="utf-8")
    print(f"{file}: {len(found)} opcodes")


def of_forms(file: Path) -> tuple[set[str], set[str]]:
    """(the machine instructions of products, those that add nothing to any counter).

    Raises SystemExit if a form adds to a counter that it should not.
    """
    products, uncounted = set(), set()
    for form in json.loads(gzip.decompress(file.read_bytes()))["forms"]:
        (_, once), (_, often) = sorted(form["counters"].items(), key=lambda one: int(one[0]))
        added = {name for name in once if once[name] != often[name]}
        if "GMMA" in form["sass"]:
            products.add(form["sass"])
        elif not added:
            uncounted.add(form["sass"])
        if added - ({"", "op_gmma"} if "GMMA" in form["sass"] else set()):
            raise SystemExit(f"{form['name']} adds to {', '.join(sorted(added))}")
    return products, uncounted


def add_forms(file: Path, machine: str) -> None:
    """Adds the forms of a file to the lists in the machine's file in `ptxaudit/hardware/measurements`."""
    target = MEASUREMENTS / f"{machine}.json"
    text = target.read_text(encoding="utf-8")
    for name, found in zip(("products", "uncounted"), of_forms(file)):
        listed = sorted(found | {*json.loads(text).get(name, ())})
        text = re.sub(rf'"{name}": \[[^\]]*\]', lambda _: f'"{name}": {json.dumps(listed, indent=4)[:-1]}  ]', text)
    target.write_text(text, encoding="utf-8")
