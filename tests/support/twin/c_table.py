"""Addresses that compiled C computed for generated kernels, kept as data for machines without a C compiler.

    PYTHONPATH=tests/support python -m twin.c_table        writes tests/data/c_addresses.json.gz

An entry has the kernel's text, its launch, the addresses of its variables, and for every thread the (line, address)
pairs in order.
"""

from __future__ import annotations

import base64
import gzip
import json
import tempfile
from pathlib import Path

from paths import DATA

from . import c_side, compare, generate
from .code import flatten
from .run import Machine

KEPT = DATA / "c_addresses.json.gz"
SEEDS = range(40)


def machine(kernel, places: dict | None = None) -> Machine:
    """The twin of a generated kernel, with its variables at `places`."""
    buffer = compare.parameter_buffer(flatten(kernel.text)[0]["k"], kernel.params, kernel.seed)
    made = Machine(kernel.text, "k", kernel.grid, kernel.block, buffer, dynamic_shared=kernel.dynamic, seed=kernel.seed)
    made.places = places or made.places
    return made


def entry(kernel, folder: Path) -> dict:
    twin = machine(kernel)
    found = c_side.addresses(twin, folder, kernel.grid, kernel.block)
    params = [base64.b64encode(p).decode() if isinstance(p, bytes) else p for p in kernel.params]
    return {
        "seed": kernel.seed,
        "text": kernel.text,
        "grid": kernel.grid,
        "block": kernel.block,
        "params": params,
        "dynamic": kernel.dynamic,
        "places": [[space, name, at] for (space, name), at in twin.places.items()],
        "threads": [[x for pair in found[key] for x in pair] for key in sorted(found)],
    }


def read() -> list[tuple[generate.Kernel, dict, dict]]:
    """(kernel, addresses of its variables, {(block, thread): [(line, address), …]}) of every entry."""
    out = []
    for e in json.loads(gzip.decompress(KEPT.read_bytes())):
        params = [base64.b64decode(p) if isinstance(p, str) else p for p in e["params"]]
        kernel = generate.Kernel(e["seed"], e["text"], "k", tuple(e["grid"]), tuple(e["block"]), params, e["dynamic"])
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        addresses = {divmod(n, threads): list(zip(row[::2], row[1::2])) for n, row in enumerate(e["threads"])}
        out.append((kernel, {(space, name): at for space, name, at in e["places"]}, addresses))
    return out


def main() -> None:
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            at = Path(folder, str(seed))
            at.mkdir()
            entries.append(entry(generate.kernel(seed, straight=seed % 2 == 0, lonely=True, small=True), at))
    KEPT.write_bytes(gzip.compress(json.dumps(entries, separators=(",", ":")).encode(), 9, mtime=0))
    print(f"{KEPT}: {len(entries)} kernels, {KEPT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
