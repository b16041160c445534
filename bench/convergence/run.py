"""Runs programs and kernels on a GPU and records which lanes ran together, in order.

    python -m bench.convergence.run programs FRAME PLAN -o OUT.npz
    python -m bench.convergence.run kernels FOLDER -o OUT.npz         every t… of FOLDER/*.cubin, with each of SEEDS

OUT.npz: `names` (one per warp: "nested/12/3", "file.cubin/t7/seed/warp"), `ends` (where each warp's issues end), and
for all issues `number`, `mask` and `cycles` since the previous issue. Programs whose lanes wait forever are named in
`stuck`. Needs numpy and cuda-bindings.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty
from typing import Any, TypeVar

import numpy as np

from . import programs, sources
from .frame import KERNELS, THREADS, Frame

SEEDS = (1, 20250)
MOST_RECORDS = 64  # per lane, in a program
BATCH = KERNELS
STACK = 32 << 10  # bytes per thread, for kernels


class Gpu:
    """The first device, accessed through the driver API."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.call(driver.cuInit, 0)
        self.context = self.call(driver.cuDevicePrimaryCtxRetain, self.call(driver.cuDeviceGet, 0))
        self.call(driver.cuCtxSetCurrent, self.context)

    def call(self, function: Any, *arguments: Any) -> Any:
        status, *values = function(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{function.__name__}: {status}")
        return values[0] if len(values) == 1 else values

    def allocate(self, size: int) -> int:
        return int(self.call(self.driver.cuMemAlloc, size))

    def clear(self, pointer: int, size: int) -> None:
        self.call(self.driver.cuMemsetD8, pointer, 0, size)

    def read(self, pointer: int, shape: tuple[int, ...]) -> np.ndarray:
        out = np.empty(shape, np.uint32)
        self.call(self.driver.cuMemcpyDtoH, out.ctypes.data, pointer, out.nbytes)
        return out

    def write(self, pointer: int, data: np.ndarray) -> None:
        self.call(self.driver.cuMemcpyHtoD, pointer, data.ctypes.data, data.nbytes)

    def functions(self, cubin: bytes) -> tuple[Any, dict[str, Any]]:
        module = self.call(self.driver.cuModuleLoadData, cubin)
        count = self.call(self.driver.cuModuleGetFunctionCount, module)
        found = self.call(self.driver.cuModuleEnumerateFunctions, count, module)
        return module, {self.call(self.driver.cuFuncGetName, f).decode(): f for f in found}

    def launch(self, function: Any, threads: int, arguments: tuple[tuple[Any, ...], tuple[Any, ...]]) -> None:
        self.call(self.driver.cuLaunchKernel, function, 1, 1, 1, threads, 1, 1, 0, 0, arguments, 0)

    def wait(self) -> None:
        self.call(self.driver.cuCtxSynchronize)


@dataclass
class Traces:
    """The observations, warp by warp."""

    names: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    number: list[np.ndarray] = field(default_factory=list)
    mask: list[np.ndarray] = field(default_factory=list)
    cycles: list[np.ndarray] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)

    def add(self, name: str, records: np.ndarray) -> None:
        """Adds the records of one warp: (records, LANES, 4) of mask, number, clock, anything; mask 0: not written.

        Lanes that read the same clock ran together. (A compiler may have moved the read of the mask before it.)
        """
        written, lane = np.nonzero(records[..., 0])
        found = records[written, lane]
        start = found[:, 2].min() if len(found) else 0
        when = (found[:, 2] - start).astype(np.int32).astype(np.int64)
        issues, which = np.unique(when << 16 | found[:, 1], return_inverse=True)
        masks = np.zeros(len(issues), np.uint32)
        np.bitwise_or.at(masks, which, np.uint32(1) << lane.astype(np.uint32))
        if (masks[which] != found[:, 0]).any():
            name += "!"
        self.names.append(name)
        self.number.append((issues & 0xFFFF).astype(np.uint16))
        self.mask.append(masks)
        self.cycles.append(np.clip(np.diff(issues >> 16, prepend=0), 0, 65535).astype(np.uint16))
        self.ends.append((self.ends[-1] if self.ends else 0) + len(issues))

    def save(self, path: Path) -> None:
        join = lambda parts: np.concatenate(parts) if parts else np.zeros(0, np.uint32)
        np.savez_compressed(
            path,
            names=np.array(self.names),
            ends=np.array(self.ends, np.int64),
            number=join(self.number),
            mask=join(self.mask),
            cycles=join(self.cycles),
            stuck=np.array(self.stuck, dtype="U64"),
        )


# --- programs -----------------------------------------------------------------------------------

_POINTERS = (ctypes.c_void_p,) * 4
_RECORDS = MOST_RECORDS * programs.STRIDE


def _run_batch(gpu: Gpu, frame: Frame, batch: list[tuple[str, int]], traces: Traces) -> None:
    """Runs programs (manner, seed) in kernels of one cubin."""
    cubin = frame.with_programs([_assembled(manner, seed) for manner, seed in batch])
    module, functions = gpu.functions(cubin)
    count = len(batch)
    lanes = np.array([programs.lane_words(seed) for _, seed in batch], np.uint32)
    records, words, done, keep = (gpu.allocate(size) for size in (count * _RECORDS, lanes.nbytes, 4 * count, 1024))
    gpu.clear(records, count * _RECORDS)
    gpu.clear(done, 4 * count)
    gpu.write(words, lanes)
    for k in range(count):
        arguments = records + k * _RECORDS, words + k * lanes[0].nbytes, done + 4 * k, keep
        gpu.launch(functions[f"p{k}"], THREADS, (arguments, _POINTERS))
    gpu.wait()
    found = gpu.read(records, (count, MOST_RECORDS, programs.WARPS, programs.LANES, 4))
    for pointer in (records, words, done, keep):
        gpu.call(gpu.driver.cuMemFree, pointer)
    gpu.call(gpu.driver.cuModuleUnload, module)
    for k, (manner, seed) in enumerate(batch):
        for warp in range(programs.WARPS):
            traces.add(f"{manner}/{seed}/{warp}", found[k, :, warp])


def _assembled(manner: str, seed: int) -> bytes:
    """The code of a program; the last letter of a manner may be a variant."""
    variant = manner[-1] if manner[-1] in "+~" else ""
    return programs.assemble(programs.random_program(seed, manner.rstrip("+~")), variant)


def _programs(frame: Path) -> Callable[[list[tuple[str, int]]], Traces]:
    gpu, loaded = Gpu(), Frame.load(frame)

    def run(batch: list[tuple[str, int]]) -> Traces:
        traces = Traces()
        _run_batch(gpu, loaded, batch, traces)
        return traces

    return run


def run_programs(frame: Path, wanted: list[tuple[str, int]], seconds: float) -> Traces:
    """Runs all of these, until the time is over: first in batches, those of a batch that failed one by one."""

    def smaller(failed: list[tuple[str, int]]) -> list[list[tuple[str, int]]]:
        part = max(1, len(failed) // 8)
        return [failed[k : k + part] for k in range(0, len(failed), part)] if len(failed) > 1 else []

    batches = [wanted[k : k + BATCH] for k in range(0, len(wanted), BATCH)]
    return _in_children(
        partial(_programs, frame), batches, seconds, smaller, lambda batch: "/".join(map(str, batch[0]))
    )


# --- child processes ----------------------------------------------------------------------------

Task = TypeVar("Task")


def _child(prepare: Callable[[], Callable[[Task], Traces]], tasks: list[Task], queue: Any) -> None:
    """Runs tasks in a process, which is lost when a launch fails."""
    run = prepare()
    for task in tasks:
        queue.put(run(task))


def _in_children(
    prepare: Callable[[], Callable[[Task], Traces]],
    tasks: list[Task],
    seconds: float,
    smaller: Callable[[Task], list[Task]],
    name: Callable[[Task], str],
) -> Traces:
    """Runs all tasks, until the time is over. Instead of a task with which a process was lost, the smaller ones run; if
    there are none, it is named in `stuck`.
    """
    out, until = Traces(), time.monotonic() + seconds
    context = multiprocessing.get_context("spawn")
    while tasks and time.monotonic() < until:
        queue = context.Queue()
        child = context.Process(target=_child, args=(prepare, tasks, queue), daemon=True)
        child.start()
        while tasks and time.monotonic() < until:
            try:
                _extend(out, queue.get(timeout=0.2))
                tasks = tasks[1:]
            except Empty:
                if not child.is_alive() and queue.empty():
                    break
        child.join(2)
        if child.is_alive():
            child.kill()
        if tasks and time.monotonic() < until:
            parts = smaller(tasks[0])
            if not parts:
                out.stuck.append(name(tasks[0]))
            tasks = parts + tasks[1:]
    return out


def _extend(out: Traces, more: Traces) -> None:
    base = out.ends[-1] if out.ends else 0
    out.names += more.names
    out.ends += [base + end for end in more.ends]
    for name in ("number", "mask", "cycles"):
        getattr(out, name).extend(getattr(more, name))


# --- kernels ------------------------------------------------------------------------------------


def _kernels() -> Callable[[Path], Traces]:
    gpu = Gpu()
    gpu.call(gpu.driver.cuCtxSetLimit, gpu.driver.CUlimit.CU_LIMIT_STACK_SIZE, STACK)
    return partial(_run_kernels, gpu)


def run_kernels(files: list[Path], seconds: float) -> Traces:
    """Runs every kernel t… of these cubins, until the time is over."""
    return _in_children(_kernels, files, seconds, lambda file: [], lambda file: file.name)


def _run_kernels(gpu: Gpu, file: Path) -> Traces:
    out, size = Traces(), sources.RECORDS * sources.STRIDE
    module, functions = gpu.functions(file.read_bytes())
    wanted = [(name, seed) for name in sorted(functions) if name.startswith("t") for seed in SEEDS]
    if not wanted:  # of `frame`, which may lie beside them
        return out
    records = gpu.allocate(size * len(wanted))
    gpu.clear(records, size * len(wanted))
    for k, (name, seed) in enumerate(wanted):
        gpu.launch(
            functions[name],
            sources.WARPS * sources.LANES,
            ((records + k * size, seed), (ctypes.c_void_p, ctypes.c_uint)),
        )
    gpu.wait()
    for k, (name, seed) in enumerate(wanted):
        found = gpu.read(records + k * size, (sources.RECORDS, sources.WARPS, sources.LANES, 4))
        for warp in range(sources.WARPS):
            full = "~" if found[-1, warp].any() else ""
            out.add(f"{file.name}/{name}/{seed}/{warp}{full}", found[:, warp])
    gpu.call(gpu.driver.cuMemFree, records)
    gpu.call(gpu.driver.cuModuleUnload, module)
    return out


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("programs", "kernels"))
    parser.add_argument("path", type=Path)
    parser.add_argument("plan", nargs="?", type=Path, help="of programs: a file of JSON, [[manner, seed], …]")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args(arguments)
    if options.what == "programs":
        wanted = [(manner, seed) for manner, seed in json.loads(options.plan.read_text())]
        traces = run_programs(options.path, wanted, options.seconds)
    else:
        traces = run_kernels(sorted(options.path.glob("*.cubin")), options.seconds)
    traces.save(options.output)
    print(
        f"{len(traces.names)} warps, {sum(map(len, traces.mask))} issues, {sum('!' in n for n in traces.names)} not"
        f" consistent, stuck: {traces.stuck}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
