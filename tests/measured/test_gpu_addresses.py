"""Generated kernels executed on a GPU (bench/gpu_addresses): every access of every thread, compared with the twin and
the engine.

ptxas, not PTX, decides which lanes execute together: requests are compared with the engine's execution of the machine
code where the same ptxas is available, and with its execution of the PTX where lanes reconverged at the
post-dominators.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter, defaultdict
from functools import cache

import pytest
from paths import DATA
from twin import compare, count, generate, instrument, machine
from twin.run import Machine

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import Status
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.artifacts.lines import ptx_lines
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.ir import graph
from ptxaudit.ir.link import link

KEPT = sorted((DATA / "gpu_addresses").glob("*.json.gz"))
DOCUMENTS = [json.loads(gzip.decompress(path.read_bytes())) for path in KEPT]
ENTRIES = [entry for document in DOCUMENTS for entry in document["kernels"]]
TOOLCHAIN = DOCUMENTS[0]["toolchain"]
PARTS = 4
MACHINE_CODE = 24  # kernels that are assembled again
WINDOW = machine.WINDOW  # the offset bits of an address: above them is the block's rank in its cluster


def kernel_of(entry: dict) -> generate.Kernel:
    cluster = tuple(entry["cluster"]) if entry["cluster"] else None
    return generate.Kernel(
        entry["seed"],
        entry["text"],
        "k",
        tuple(entry["grid"]),
        tuple(entry["block"]),
        [],
        entry["dynamic"],
        cluster=cluster,
    )


def requests_of(entry: dict):
    """(block number, warp, line, {lane: address}) of every request that the GPU issued."""
    for block, warp, line, _, acting, *numbers in entry["requests"]:
        acts = [lane for lane in range(count.LANES) if acting >> lane & 1]
        yield (
            block,
            warp,
            line,
            dict(zip(acts, [n + (numbers[0] if k else 0) for k, n in enumerate(numbers)], strict=True)),
        )


def of_twin(entry: dict) -> list:
    """The same from the twin, with its variables at the GPU's addresses."""
    return _of_twin(entry["seed"])


@cache
def _of_twin(seed: int) -> list:
    return list(_run(next(entry for entry in ENTRIES if entry["seed"] == seed)))


def _run(entry: dict):
    kernel = kernel_of(entry)
    twin = Machine(
        entry["text"],
        "k",
        kernel.grid,
        kernel.block,
        base64.b64decode(entry["parameters"]),
        dynamic_shared=kernel.dynamic,
        seed=kernel.seed,
        cluster=kernel.cluster or (1, 1, 1),
    )
    twin.places |= {("shared", name): address & WINDOW for name, address in entry["symbols"].items()}
    for r in twin.run():
        if r.elsewhere:
            continue
        number = r.block[0] + kernel.grid[0] * (r.block[1] + kernel.grid[1] * r.block[2])
        yield number, r.warp, r.line, r.addresses


def by_thread(requests) -> dict[tuple, Counter]:
    """(block, warp, lane, line) -> how often each offset in the window was accessed."""
    out: dict[tuple, Counter] = defaultdict(Counter)
    for block, warp, line, addresses in requests:
        for lane, address in addresses.items():
            out[block, warp, lane, line][address & WINDOW] += 1
    return out


def together(requests) -> Counter:
    return Counter((block, warp, line, tuple(sorted(addresses))) for block, warp, line, addresses in requests)


def evaluated(entry: dict, function):
    kernel = kernel_of(entry)
    launch = Launch(
        "k",
        grid=kernel.grid,
        block=kernel.block,
        param_bytes=base64.b64decode(entry["parameters"]),
        dynamic_shared=kernel.dynamic,
        cluster=kernel.cluster,
    )
    return engine.evaluate(function, graph.build(function), launch=launch, machine=compare.MACHINE)


def counted(entry: dict, requests, executed=None) -> dict[int, tuple[int, int, int]]:
    """line -> (requests, requests with an active lane, wavefronts) by the twin's rules, without lines that these do not
    count.

    executed: for the instrumented kernel, whose loads are stores (`instrument.in_range`).
    """
    lines = entry["text"].splitlines()
    of_table = instrument.table_sites(entry["text"])
    out: dict[int, tuple[int, int, int]] = {}
    uncounted = set()
    for _, _, line, addresses in requests:
        op = instrument.match(lines[line - 1])["op"]
        if executed:
            addresses = executed(line, addresses)
            op = op if line in of_table else op.replace("ld.", "st.", 1)
        low, high = 0, 0
        if addresses:
            low, high, _ = count.score(op, None, addresses) if op.startswith(("ld", "st.")) else (None, None, None)
        if low is None or low != high:
            uncounted.add(line)
            continue
        a, b, c = out.get(line, (0, 0, 0))
        out[line] = a + 1, b + bool(addresses), c + low
    return {line: figures for line, figures in out.items() if line not in uncounted}


def test_enough_gpu_addresses_are_committed():
    assert len(ENTRIES) >= 250
    assert all(document["device"] and document["driver"] for document in DOCUMENTS)


@pytest.mark.parametrize("part", range(PARTS))
def test_interpreter_addresses_equal_those_of_the_gpu(part):
    """The twin computes the GPU's addresses, and mostly its groups of lanes."""
    same = 0
    entries = ENTRIES[part::PARTS]
    for entry in entries:
        twin, gpu = of_twin(entry), list(requests_of(entry))
        assert by_thread(twin) == by_thread(gpu), f"seed {entry['seed']}"
        same += together(r for r in twin if r[3]) == together(r for r in gpu if r[3])
    assert same > 0.85 * len(entries), f"{same} of {len(entries)}"


@pytest.mark.parametrize("part", range(PARTS))
def test_exact_answers_for_ptx_equal_the_gpu_requests(part):
    """Where lanes reconverged at the post-dominators, exact answers equal the scores of the GPU's requests."""
    compared = 0
    for entry in ENTRIES[part::PARTS]:
        gpu = list(requests_of(entry))
        if together(of_twin(entry)) != together(gpu):
            continue
        figures = counted(entry, gpu)
        function, _ = compare.lifted(entry["text"], "k")
        for site in compare.figures(function, evaluated(entry, function)):
            if site.status == Status.EXACT and site.place in figures:
                compared += 1
                assert (site.requests, site.active_requests, site.wavefronts) == figures[site.place], (
                    f"seed {entry['seed']} line {site.place}"
                )
            elif site.status == Status.UNREACHED:
                assert site.place not in figures
    assert compared > 150


@pytest.mark.skipif(
    TOOLCHAIN != f"ptxas {toolchains.get('ptxas').version}", reason=f"the GPU ran what {TOOLCHAIN} made"
)
def test_exact_answers_for_machine_code_equal_the_gpu_requests():
    """The engine's figures for the machine code that ran equal the scores of its requests: its lanes diverge and
    reconverge as on the GPU.
    """
    entries = ENTRIES[:: max(1, len(ENTRIES) // MACHINE_CODE)]
    compared, wrong = machine_code(entries)
    assert not wrong, "\n".join(wrong)
    assert compared > 40


def machine_code(entries) -> tuple[int, list[str]]:
    """(sites compared, differences)."""
    texts = [instrument.instrumented(e["text"], threads(e), e["events"], e["dynamic"]) for e in entries]
    cubins = [read_cubin(assemble(text, machine.ARCH).cubin, str(e["seed"])) for e, text in zip(entries, texts)]
    compared, wrong = 0, []
    for entry, text, cubin, code in zip(entries, texts, cubins, disassemble(cubins)):
        module = lift_module(cubin, code)
        function = link(module, module.functions["k"])
        result, table = evaluated(entry, function), ptx_lines(cubin)
        origin, figures, open_lines = instrument.origins(text), defaultdict(lambda: (0, 0, 0)), set()
        for site in result.sites:
            source = table.at("k", function.instructions[site.index].place)
            line = origin.get(source.line) if source else None
            if site.status not in (Status.EXACT, Status.UNREACHED):
                open_lines.add(line)
            elif site.status == Status.EXACT:
                figures[line] = tuple(
                    map(sum, zip(figures[line], (site.requests, site.active_requests, site.wavefronts)))
                )
        runs = instrument.in_range(entry["text"], entry["dynamic"], entry["symbols"])
        for line, gpu in counted(entry, requests_of(entry), runs).items():
            op = instrument.match(entry["text"].splitlines()[line - 1])["op"]
            if line in open_lines or not op.startswith(("ld.", "st.")) or line in instrument.table_sites(entry["text"]):
                continue
            compared += 1
            same = figures[line][2] == gpu[2]
            if "shared" in op:  # the lanes of a generic access that are active elsewhere were not recorded
                same &= figures[line][1] == gpu[1]
            if not same:
                wrong.append(f"seed {entry['seed']} line {line}: engine {figures[line]}, GPU {gpu}")
    return compared, wrong


def threads(entry: dict) -> int:
    (x, y, z), (a, b, c) = entry["block"], entry["grid"]
    return x * y * z * a * b * c
