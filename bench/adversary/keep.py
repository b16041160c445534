"""Extracts some measured cubins from a plan and its results: a self-contained set, small enough to be committed.

keep(folder, results, out, ["k17.nvcc-O0.cubin", …])   ->   OUT/cubins.tar.xz, OUT/launches.json.gz
"""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.adversary.plan import CUBINS, add
from bench.adversary.truth import code_of, members

LAUNCHES = "launches.json.gz"


def keep(folder: Path, results: Sequence[Path], out: Path, cubins: Iterable[str]) -> None:
    """Writes the set. Raises SystemExit for a cubin that was not measured."""
    chosen = set(cubins)
    documents = [json.loads(gzip.decompress(path.read_bytes())) for path in results]
    launches = [entry for document in documents for entry in document["launches"] if entry["cubin"] in chosen]
    code = {cubin: opcodes for cubin, opcodes in code_of(documents).items() if cubin in chosen}
    if missing := chosen - {entry["cubin"] for entry in launches}:
        raise SystemExit(f"not in these results: {', '.join(sorted(missing))}")
    kept = documents[0] | {"launches": launches, "code": code}
    out.mkdir(parents=True, exist_ok=True)
    (out / LAUNCHES).write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))
    with tarfile.open(out / CUBINS, "w:xz") as archive:
        for name, data in sorted(members(folder / CUBINS, chosen).items()):
            add(archive, name, data)
    print(f"{out}: {len(launches)} launches of {len(chosen)} cubins")
