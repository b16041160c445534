"""Assembles the kernels and reads the machine instructions that they became."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from bench.calibrate import tensor, timing
from bench.calibrate.instructions import INSTRUCTIONS, Instruction, ptx

_ACCESS = re.compile(r"\*/\s+(?:@(!?U?P\w+) )?((?:LDS|STS|ATOMS|LDSM|STSM|LDGSTS|LD|ST|ATOM)\b[\w.]*)")
_NEVER = "!PT"  # guards the predicated-off load before each LDGSTS


def available(arch: str) -> list[Instruction]:
    """The instructions that this architecture has."""
    number = int(re.match(r"sm_(\d+)", arch)[1])
    return [one for one in INSTRUCTIONS.values() if one.least <= number]


def build(folder: Path, arch: str) -> None:
    """Writes folder/requests.cubin, requests.ptx and kernels.json (each kernel's machine instructions).

    For Hopper also tensor.cubin and timing.cubin.
    """
    from ptxaudit.frontend.compile.ptxas import assemble

    text = ptx(arch, [one.name for one in available(arch)])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "requests.ptx").write_text(text)
    assembled = assemble(text, arch)
    (folder / "requests.cubin").write_bytes(assembled.cubin)
    (folder / "kernels.json").write_text(json.dumps(machine_code(folder / "requests.cubin")))
    print(f"{folder / 'requests.cubin'}: {len(available(arch))} kernels")
    if tensor.ARCH.startswith(arch):
        for one in (tensor, timing):
            one.build(folder)
        print(folder / "tensor.cubin", folder / "timing.cubin")


def machine_code(cubin: Path) -> dict[str, list[str]]:
    """{kernel: opcodes of its shared-memory instructions, in order}."""
    from ptxaudit.frontend.compile import toolchains

    done = subprocess.run(
        [toolchains.get("nvdisasm").path, "-c", str(cubin)], capture_output=True, text=True, check=True
    )
    sections = re.split(r"^\.text\.(\w+):", done.stdout, flags=re.M)
    return {
        name: [opcode for guard, opcode in _ACCESS.findall(body) if guard != _NEVER]
        for name, body in zip(sections[1::2], sections[2::2], strict=True)
    }
