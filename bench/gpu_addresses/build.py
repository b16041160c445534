"""Builds kernels that record the shared-memory addresses they compute, to be run on a GPU.

    python bench/gpu_addresses/build.py DIR [--kernels 300]       no GPU needed: DIR/manifest.json and the cubins
    python3 bench/gpu_addresses/run.py DIR -o addresses.json.gz   on a GPU

The kernels are those of tests/support/twin/generate.py whose addresses depend neither on memory nor on uninitialised
registers: the interpreter twin runs each twice with different junk. Arguments and log sizes are in the manifest.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from twin import compare, generate, instrument, machine  # noqa: E402
from twin.code import flatten  # noqa: E402

from ptxaudit.base.errors import InputError  # noqa: E402
from ptxaudit.frontend.compile.ptxas import assemble  # noqa: E402

EVENTS = 90  # accesses per thread
REQUESTS = 240  # per kernel


def fits(k: generate.Kernel) -> int:
    """The maximum number of events per thread; 0 if the kernel is not suitable for a GPU."""
    if "%warpid" in k.text:  # a slot of the multiprocessor: the twin cannot predict it
        return 0
    requests = machine.settled(k)
    if requests is None or not 4 <= len(requests) <= REQUESTS:
        return 0
    events = Counter((block, warp, lane) for block, warp, _, _, lanes in requests for lane in lanes)
    most = max(events.values(), default=0)
    return most if most <= EVENTS else 0


def built(k: generate.Kernel, most: int, folder: Path) -> dict | None:
    threads = k.block[0] * k.block[1] * k.block[2] * k.grid[0] * k.grid[1] * k.grid[2]
    events = most * 2 + len(instrument.shared_variables(k.text)) + 4
    name = f"k{k.seed}.cubin"
    try:
        made = assemble(instrument.instrumented(k.text, threads, events, k.dynamic), machine.ARCH)
    except InputError as error:
        print(f"seed {k.seed}: {error.detail or error}", file=sys.stderr)
        return None
    (folder / name).write_bytes(made.cubin)
    code = flatten(k.text)[0]["k"]
    offsets, at = [], 0
    for _, size, align in code.parameters:
        at = -(-at // align) * align
        offsets.append(at)
        at += size
    return {
        "seed": k.seed,
        "text": k.text,
        "grid": k.grid,
        "block": k.block,
        "cluster": k.cluster,
        "dynamic": k.dynamic,
        "cubin": name,
        "events": events,
        "offsets": offsets,
        "pointer_at": offsets[3],
        "parameters": base64.b64encode(compare.parameter_buffer(code, k.params, k.seed)).decode(),
        "variables": [n for n, _ in instrument.shared_variables(k.text)],
        "first_symbol": instrument.SYMBOL,
        "tool": str(made.tool.version),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", type=int, default=300)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    kernels: list[dict] = []
    seed = 0
    while len(kernels) < options.kernels:
        k = generate.kernel(seed, small=seed % 3 != 0, straight=seed % 5 == 0, loaded=False)
        seed += 1
        most = fits(k)
        made = built(k, most, options.folder) if most else None
        if made:
            kernels.append(made)
    tool = kernels[0]["tool"]
    (options.folder / "manifest.json").write_text(json.dumps({"toolchain": f"ptxas {tool}", "kernels": kernels}))
    print(f"{len(kernels)} kernels of {seed} seeds")


if __name__ == "__main__":
    main()
