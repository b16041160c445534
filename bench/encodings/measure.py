"""Executes the instructions of a plan on a GPU, each in a module of its own, and keeps the registers that they change.

    python3 measure.py FOLDER -o OUT [--seconds 240] [--workers 8]        needs numpy and cuda-bindings

OUT/device.json names the device. Instructions are executed in groups, in the sections of one kernel; those of a group
that faults or hangs are executed once more, alone. OUT/groups-N.bin and single-N.bin have records, of two numbers of 32 bits and, for a register, its value in
every lane of every warp: the instruction's index in the plan, and the register; or FAILED, if the launch faulted or hung;
or ENDED, after the registers that changed. A kernel whose instruction is replaced by NOP says which registers change
without it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

FAILED, ENDED = 0xFFFFFFFF, 0xFFFFFFFE
SIZE, FIRST = 16, 4  # bytes of an instruction; the first register
HANGS = 15  # seconds without progress


def arranged(inputs: np.ndarray, words: Sequence[Sequence[int]]) -> np.ndarray:
    """(sections, warps, lanes, n): the inputs as each section of the kernel loads them."""
    out = np.zeros((len(words), *inputs.shape), inputs.dtype)
    for section, order in zip(out, words):
        section[:, :, list(order)] = inputs
    return out


class Device:
    """The first GPU.

    inputs (warps, lanes, n): of register R4 + k; words: of each section of the kernel, where it has register R4 + k.
    """

    def __init__(self, inputs: np.ndarray, words: list[list[int]]) -> None:
        from cuda.bindings import driver

        self.driver, self.words = driver, np.array(words)
        self.inputs = arranged(inputs, words)
        self.call(driver.cuInit, 0)
        self.device = self.call(driver.cuDeviceGet, 0)
        self.call(driver.cuCtxSetCurrent, self.call(driver.cuDevicePrimaryCtxRetain, self.device))
        self.into = self.call(driver.cuMemAlloc, self.inputs.nbytes)
        self.further = self.inputs.shape[:3]  # another word of each section and thread
        self.out = self.call(driver.cuMemAlloc, self.inputs.nbytes + 4 * int(np.prod(self.further)))
        self.call(driver.cuMemcpyHtoD, self.into, self.inputs.ctypes.data, self.inputs.nbytes)

    def call(self, function, *arguments):
        status, *values = function(*arguments)
        if int(status):
            raise RuntimeError(f"{function.__name__}: {status}")
        return values[0] if len(values) == 1 else values

    def run(self, cubin: bytes) -> np.ndarray:
        """(sections, warps, lanes, n + 1): register R4 + k after each section, and the further word.

        Raises RuntimeError if the kernel faults.
        """
        import ctypes

        d = self.driver
        module = self.call(d.cuModuleLoadData, cubin)
        function = self.call(d.cuModuleGetFunction, module, b"k")
        result = np.zeros(self.inputs.size + int(np.prod(self.further)), np.uint32)
        self.call(d.cuMemsetD8, self.out, 0, result.nbytes)
        values = (int(self.into), int(self.out)), (ctypes.c_uint64, ctypes.c_uint64)
        _, warps, lanes, _ = self.inputs.shape
        self.call(d.cuLaunchKernel, function, 1, 1, 1, warps * lanes, 1, 1, 0, 0, values, 0)
        self.call(d.cuMemcpyDtoH, result.ctypes.data, self.out, result.nbytes)
        self.call(d.cuModuleUnload, module)
        words, further = result[: self.inputs.size], result[self.inputs.size :].reshape(*self.further, 1)
        found = [section[:, :, order] for section, order in zip(words.reshape(self.inputs.shape), self.words)]
        return np.concatenate([np.stack(found), further], axis=3)

    def name(self) -> str:
        name = self.call(self.driver.cuDeviceGetName, 128, self.device).rstrip(b"\0 ").decode()
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return f"{name}, driver {subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()}"


def work(folder: Path, out: Path, name: str, worker: int, workers: int, first: int) -> None:
    """Executes every `workers`th group of instructions from the `first` on; ends at a fault."""
    plan = json.loads((folder / "plan.json").read_text())
    groups = json.loads((out / f"{name}.json").read_text())
    kernel, nop = bytearray((folder / "kernel.cubin").read_bytes()), bytes.fromhex(plan["nop"])
    device = Device(np.load(folder / "inputs.npy"), plan["words"])
    plain = device.run(bytes(kernel))[0]
    if worker == first == 0:
        (out / "device.json").write_text(json.dumps({"device": device.name()}))
        np.save(out / "plain.npy", plain)
    with (out / f"{name}-{worker}.bin").open("ab") as file:
        for number in range(first, len(groups), workers):
            members = groups[number]
            for k, place in enumerate(plan["places"]):
                code = bytes.fromhex(plan["instructions"][members[k]][1]) if k < len(members) else nop
                kernel[place : place + SIZE] = code
            try:
                found = device.run(bytes(kernel))
            except RuntimeError:
                file.write(np.array([[index, FAILED] for index in members], np.uint32).tobytes())
                return
            for index, one in zip(members, found):
                for k in np.flatnonzero((one != plain).any(axis=(0, 1))):
                    file.write(np.array([index, k + FIRST], np.uint32).tobytes())
                    file.write(np.ascontiguousarray(one[:, :, k]).tobytes())
                file.write(np.array([index, ENDED], np.uint32).tobytes())
            file.flush()


def records(data: bytes, lanes: int):
    """(instruction, register or FAILED or ENDED, values or None) of each record."""
    words, at = np.frombuffer(data[: len(data) // 4 * 4], np.uint32), 0
    while at + 2 <= len(words):
        index, register = int(words[at]), int(words[at + 1])
        at += 2
        if register in (FAILED, ENDED):
            yield index, register, None
        elif at + lanes <= len(words):
            yield index, register, words[at : at + lanes]
            at += lanes
        else:
            return


def failed(out: Path, name: str, lanes: int) -> list[int]:
    """The instructions of failed groups."""
    files = sorted(out.glob(f"{name}-*.bin"))
    return sorted(i for file in files for i, r, _ in records(file.read_bytes(), lanes) if r == FAILED)


class Worker:
    """A process that executes groups; it is started anew after faults and hangs."""

    def __init__(self, command: list[str], out: Path, name: str, number: int, workers: int, groups: list, lanes: int):
        self.command = [*command, "--name", name, "--work", str(number), "--workers", str(workers)]
        self.file = out / f"{name}-{number}.bin"
        self.number, self.workers, self.groups, self.lanes = number, workers, groups, lanes
        self.file.write_bytes(b"")
        self.process, self.size, self.seen = None, 0, 0.0

    def following(self) -> int:
        """The first group that is not done."""
        done = {i for i, r, _ in records(self.file.read_bytes(), self.lanes) if r in (FAILED, ENDED)}
        mine = range(self.number, len(self.groups), self.workers)
        return next((g for g in mine if not done.issuperset(self.groups[g])), len(self.groups))

    def attend(self) -> bool:
        """Starts the process if it has ended, and ends it if it hangs; False if all is done."""
        size = self.file.stat().st_size
        if self.process is not None and self.process.poll() is None:
            if size != self.size:
                self.size, self.seen = size, time.monotonic()
            elif time.monotonic() - self.seen > HANGS:
                self.process.kill()
                self.process.wait()
                with self.file.open("ab") as file:
                    file.write(np.array([[i, FAILED] for i in self.groups[self.following()]], np.uint32).tobytes())
            return True
        if (first := self.following()) >= len(self.groups):
            return False
        self.process = subprocess.Popen([*self.command, "--first", str(first)], stderr=subprocess.DEVNULL)
        self.size, self.seen = size, time.monotonic()
        return True


def supervise(folder: Path, out: Path, workers: int, seconds: float) -> None:
    """Executes all groups, and then the members of failed ones one by one, until the time is over."""
    out.mkdir(parents=True, exist_ok=True)
    plan = json.loads((folder / "plan.json").read_text())
    lanes = int(np.prod(np.load(folder / "inputs.npy").shape[:2]))
    end, size, count = time.monotonic() + seconds, len(plan["places"]), len(plan["instructions"])
    passes = {"groups": [list(range(k, min(k + size, count))) for k in range(0, count, size)]}
    for name in ("groups", "single"):
        groups = passes["groups"] if name == "groups" else [[i] for i in failed(out, "groups", lanes)]
        (out / f"{name}.json").write_text(json.dumps(groups))
        command = [sys.executable, __file__, str(folder), "-o", str(out)]
        team = [Worker(command, out, name, w, workers, groups, lanes) for w in range(workers)]
        while time.monotonic() < end and any([worker.attend() for worker in team]):
            time.sleep(0.05)
        for worker in team:
            if worker.process is not None:
                worker.process.kill()
        print(f"{name}: {len(groups)}, {len(failed(out, name, lanes))} instructions in failed ones", flush=True)
    print(f"{seconds - (end - time.monotonic()):.0f} s of {seconds:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work is None:
        supervise(chosen.folder, chosen.out, chosen.workers, chosen.seconds)
    else:
        work(chosen.folder, chosen.out, chosen.name, chosen.work, chosen.workers, chosen.first)


if __name__ == "__main__":
    main()
