"""Compares wmma.load and wmma.store, one by one: ptxas's code for them, and an NVIDIA GPU's counters.

    python -m bench.fragments compare --arch sm_90 --ptxas 12.9     # the table of ptxaudit.ptx.fragments against ptxas,
                                                            lane by lane
    python -m bench.fragments build FOLDER                          # anywhere: cubins for sm_90 and the launches
    python -m bench.fragments measure FOLDER -o fragments.json.gz   # on a GPU with ncu on the PATH

A kernel is one access of one warp, named after the access: `b_m16n16k16_s8_row` loads b with `.shared`, `…_generic`
without. Its parameters are an address for the fragment's registers and the stride; strides (`ldm`) are in a register
here, and in `compare` also constant or left out. The result of `measure` is one JSON document: device, launches:
[[kernel, ldm, requests, wavefronts of loads, of stores]].
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

WARP = 32
ROW = 16  # bytes: strides are multiples
WINDOW = 32 << 10
STRIDES = (0, 16, 128, 144, 160, 272)  # bytes; below ROW: added to the size of a row
GENERIC_STRIDES = (16, 128, 160)
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
_K16 = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
_BOTH = ("row", "col")


@dataclass(frozen=True)
class Access:
    """One access. operand: a, b, c or d."""

    operand: str
    shape: tuple[int, int, int]
    type: str
    layout: str
    generic: bool = False

    @property
    def mnk(self) -> str:
        return "m{}n{}k{}".format(*self.shape)

    @property
    def name(self) -> str:
        return f"{self.operand}_{self.mnk}_{self.type}_{self.layout}{'_generic' if self.generic else ''}"

    @property
    def opcode(self) -> str:
        verb = "store" if self.operand == "d" else "load"
        return f"wmma.{verb}.{self.operand}.sync.aligned.{self.layout}.{self.mnk}{'' if self.generic else '.shared'}.{self.type}"

    @property
    def row_bytes(self) -> int:
        m, n, k = self.shape
        rows, columns = {"a": (m, k), "b": (k, n)}.get(self.operand, (m, n))
        return (columns if self.layout == "row" else rows) * BITS[self.type] // 8

    @property
    def registers(self) -> int:
        m, n, k = self.shape
        elements = {"a": m * k, "b": n * k}.get(self.operand, m * n)
        if self.type == "f16":
            return 8 if self.operand in "ab" else elements // WARP // 2
        return max(1, elements * BITS[self.type] // (64 if self.type == "f64" else 32) // WARP)

    def ldm(self, pitch: int) -> int:
        """A stride in elements. pitch: in bytes; below the size of a row, it is added to that."""
        row = -(-self.row_bytes // ROW) * ROW
        return (pitch if pitch >= row else row + pitch) * 8 // BITS[self.type]


def accesses(arch: str, generic: bool) -> list[Access]:
    """Every access that an architecture has, with or without `.shared`."""
    sm = int("".join(filter(str.isdigit, arch)))
    every = [Access(o, s, t, l, generic) for s in _K16 for o in "ab" for t in ("f16", "s8", "u8") for l in _BOTH]
    every += [Access(o, s, t, l, generic) for s in _K16 for o in "cd" for t in ("f16", "f32", "s32") for l in _BOTH]
    if sm >= 75:
        every += [
            Access(o, s, t, l, generic)
            for s, types in (((8, 8, 32), ("s4", "u4")), ((8, 8, 128), ("b1",)))
            for t in types
            for o, l in (("a", "row"), ("b", "col"))
        ]
        every += [Access(o, s, "s32", l, generic) for s in ((8, 8, 32), (8, 8, 128)) for o in "cd" for l in _BOTH]
    if sm >= 80:
        every += [Access(o, s, "bf16", l, generic) for s in _K16 for o in "ab" for l in _BOTH]
        every += [
            Access(o, s, t, l, generic)
            for s, o, t in (
                ((16, 16, 8), "a", "tf32"),
                ((16, 16, 8), "b", "tf32"),
                ((16, 16, 8), "c", "f32"),
                ((16, 16, 8), "d", "f32"),
                *(((8, 8, 4), o, "f64") for o in "abcd"),
            )
            for l in _BOTH
        ]
    return [a for a in every if sm != 70 or a.type in ("f16", "f32")]


def ptx(arch: str, which: list[Access], stride: str = "") -> str:
    """A module with a kernel per access. stride: "%r1", the parameter; or an immediate; or "": none."""
    version = "8.8" if int("".join(filter(str.isdigit, arch))) >= 100 else "7.8"
    return "\n".join(
        [f".version {version}", f".target {arch}", ".address_size 64", *(_kernel(a, stride) for a in which)]
    )


def _kernel(a: Access, stride: str) -> str:
    kind, mark, size = {"f64": (".f64", "f64", 8), "f32": (".f32", "f32", 4)}.get(a.type, (".b32", "b32", 4))
    registers = [f"%x{i}" for i in range(a.registers)]
    place = "[%rd3]" if a.generic else "[buffer]"
    rest = f", {stride}" if stride else ""
    vector = "{" + ", ".join(registers) + "}"
    moves = [(register, f"[%rd1+{size * WARP * i}]") for i, register in enumerate(registers)]
    if a.operand == "d":
        body = [f"ld.global.{mark} {r}, {at};" for r, at in moves] + [f"{a.opcode} {place}, {vector}{rest};"]
    else:
        body = [f"{a.opcode} {vector}, {place}{rest};"] + [f"st.global.{mark} {at}, {r};" for r, at in moves]
    return "\n".join(
        [
            f".visible .entry {a.name}(.param .u64 out, .param .u32 ldm) .reqntid {WARP}",
            "{",
            (
                f".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg {kind} %x<{len(registers)}>; .shared .align 128 .b8"
                f" buffer[{WINDOW}];"
            ),
            "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [ldm];",
            f"mov.u32 %r2, %tid.x; mad.wide.u32 %rd1, %r2, {size}, %rd1;",
            "mov.u32 %r3, buffer; cvt.u64.u32 %rd2, %r3; cvta.shared.u64 %rd3, %rd2;",
            *body,
            "ret;",
            "}",
        ]
    )


# --- the table compared with ptxas ------------------------------------------------------------


def requests_of(
    inputs: list, arch: str, launches: list, machine: str | None = None
) -> dict[tuple[str, str, int], list]:
    """(kernel, ISA, number of its launch) -> [(lanes' addresses relative to the lowest, count, wavefronts)], sorted."""
    from ptxaudit.frontend.options import Options
    from ptxaudit.hardware.banks import classify
    from ptxaudit.pipeline.collect import Part
    from ptxaudit.pipeline.examine import examine

    part, found = Part(), {}
    for one in examine(inputs, Options(arch=arch, launches=launches, machine=machine), part):
        rows: dict[tuple, int] = {}
        for site in one.result.sites:
            lanes = classify(one.function.instructions[site.index].site.opcode).address_lanes
            for pattern in site.patterns:
                told = pattern.addresses[:lanes]
                key = tuple(int(x) for x in told - told.min()), pattern.low
                rows[key] = rows.get(key, 0) + pattern.count
            if not site.patterns:
                rows[str(site.reason), 0] = 1
        number = sum(1 for name, isa, _ in found if (name, isa) == (one.function.name, one.function.isa))
        found[one.function.name, one.function.isa, number] = sorted(
            (key[0], count, key[1]) for key, count in rows.items()
        )
    if part.problems:
        raise SystemExit(str(part.problems[0]))
    return found


def differences(
    arch: str,
    ptxas: str | None = None,
    generic: bool = False,
    stride: str = "%r1",
    strides: tuple[int, ...] = STRIDES,
    kinds: Container[str] = BITS,
) -> Iterator[str]:
    """The differences between ptxas's code and the table, for accesses of these types; empty if they agree."""
    from ptxaudit.frontend.compile import toolchains
    from ptxaudit.frontend.compile.ptxas import assemble
    from ptxaudit.frontend.launch.launch import Launch

    which = [a for a in accesses(arch, generic) if a.type in kinds]
    text = ptx(arch, which, stride)
    cubin = assemble(text, arch, tool=toolchains.get("ptxas", ptxas) if ptxas else None).cubin
    launches = [
        Launch(a.name, grid=1, block=WARP, params=[None, a.ldm(s)])
        for a in which
        for s in (strides if stride == "%r1" else (0,))
    ]
    ours, theirs = requests_of([text], arch, launches), requests_of([cubin], arch, launches)
    if len(ours) != len(launches) or {(k, n) for k, _, n in ours} != {(k, n) for k, _, n in theirs}:
        yield f"{len(launches)} launches, {len(ours)} of PTX, {len(theirs)} of machine code"
    for (kernel, _, number), requests in ours.items():
        if requests != theirs[kernel, "sass", number]:
            yield f"{kernel}, launch {number}: {requests[:1]} and {theirs[kernel, 'sass', number][:1]}"


# --- on a GPU ---------------------------------------------------------------------------------


def build(folder: Path, arch: str = "sm_90") -> None:
    from ptxaudit.frontend.compile.ptxas import assemble

    folder.mkdir(parents=True, exist_ok=True)
    plan = []
    for generic, strides in ((False, STRIDES), (True, GENERIC_STRIDES)):
        which = accesses(arch, generic)
        (folder / f"{'generic' if generic else 'shared'}.cubin").write_bytes(
            assemble(ptx(arch, which, "%r1"), arch).cubin
        )
        plan += [[a.name, a.ldm(s)] for a in which for s in strides]
    (folder / "plan.json").write_text(json.dumps(plan))
    print(f"{len(plan)} launches")


def run(folder: Path) -> None:
    """Launches the plan in order."""
    import struct

    from bench.profiled import Gpu

    gpu = Gpu()
    kernels = {
        name: function for cubin in sorted(folder.glob("*.cubin")) for name, function in gpu.kernels(cubin).items()
    }
    out = gpu.allocate()
    for name, ldm in json.loads((folder / "plan.json").read_text()):
        gpu.launch(kernels[name], [1, 1, 1], [WARP, 1, 1], None, 0, struct.pack("<QI", out, ldm))


def _profile(folder: Path, report: Path) -> None:
    """Runs the plan under ncu."""
    from bench.profiled import WAVEFRONTS

    metrics = [WAVEFRONTS.format(kind) for kind in ("_op_ld", "_op_st")]
    metrics += [
        "memory_l1_wavefronts_shared",
        "memory_l1_wavefronts_shared_ideal",
        "inst_executed",
        "thread_inst_executed_true",
    ]
    subprocess.run(
        [
            "ncu",
            "--clock-control",
            "none",
            "--cache-control",
            "none",
            "--section",
            "SourceCounters",
            "--metrics",
            ",".join(metrics),
            "--force-overwrite",
            "--export",
            str(report),
            sys.executable,
            "-m",
            "bench.fragments",
            "run",
            str(folder),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def measure(folder: Path, output: Path) -> None:
    from bench.profiled import WAVEFRONTS, device_line, import_ncu_report, sites_of, totals_of

    report = folder / "fragments.ncu-rep"
    _profile(folder, report)
    found = import_ncu_report().load_report(str(report)).range_by_idx(0)
    plan = json.loads((folder / "plan.json").read_text())
    if found.num_actions() != len(plan):
        raise SystemExit(f"{found.num_actions()} launches in the report, {len(plan)} in the plan")
    launches = []
    for number, (name, ldm) in enumerate(plan):
        action = found.action_by_idx(number)
        totals = totals_of(action, WAVEFRONTS, ("_op_ld", "_op_st"))
        requests = sum(executed for _, _, _, _, executed, _ in sites_of(action))
        launches.append([name, ldm, int(requests), int(totals["_op_ld"]), int(totals["_op_st"])])
    name = subprocess.run(
        ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True
    ).stdout.strip()
    data = json.dumps(
        {
            "device": device_line(name),
            "columns": ["kernel", "ldm", "requests", "wavefronts of loads", "of stores"],
            "launches": launches,
        },
        separators=(",", ":"),
    ).encode()
    output.write_bytes(gzip.compress(data, mtime=0))
    print(f"{output}: {len(launches)} launches")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fragments", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("compare", help="the table against ptxas")
    command.add_argument("--arch", default="sm_90")
    command.add_argument("--ptxas", help="a release: 12.9")
    for name in ("build", "run", "measure"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "measure":
            command.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    if options.command != "compare":
        {
            "build": lambda: build(options.folder),
            "run": lambda: run(options.folder),
            "measure": lambda: measure(options.folder, options.output),
        }[options.command]()
        return 0
    from ptxaudit.base.errors import InputError

    wrong = 0
    try:
        for generic in (False, True):
            for stride in ("%r1", "256", ""):
                for line in differences(options.arch, options.ptxas, generic, stride):
                    print(f"{'generic' if generic else 'shared'}, stride {stride or 'left out'}: {line}")
                    wrong += 1
    except InputError as error:  # a release that does not support the architecture
        parser.error(str(error))
    print(
        f"{options.arch}, ptxas {options.ptxas or 'at hand'}: {wrong} differences of"
        f" {2 * len(accesses(options.arch, False))} accesses"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
