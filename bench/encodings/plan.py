"""Chooses instructions: encodings that nvdisasm decodes and that affect registers and predicates only."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np

from bench.encodings import slots
from bench.encodings.slots import SIZE

KERNEL, PLAN, INPUTS = "kernel.cubin", "plan.json", "inputs.npy"
WARPS, LANES = 4, 32
SECTIONS = 12  # instructions in one launch

# What reads or writes more than registers and predicates, or whose results depend on when and where it runs.
_OTHERS = re.compile(
    r"(B2R|BAR|SETCTAID|OUT|IPA|CALL|WARPSYNC|LEPC|RPCMOV|BMOV|NANOSLEEP|T[A-Z0-9]+|ST\w*|SU[A-Z]+|[GS]ETLMEMBASE|FENCE|"
    r"CGAERRBAR|PMTRIG|CS2R|S2R|S2UR|CSMTEST|PREEXIT|ACQBULK|ENDCOLLECTIVE|AL2P|ISBE\w+|PIXLD|BSYNC|BREAK|BSSY|YIELD|"
    r"BRA|BRX|BRXU|JMP|JMX|JMXU|EXIT|RET|KILL|LD\w*|ATOM\w*|RED|REDG|CCTL\w*|MEMBAR|ERRBAR|DEPBAR|SYNCS|UTMA\w+|"
    r"WARPGROUP\w*|[HIQB]GMMA|QSPC|BPT|RTT|VOTE_VTG|FOOTPRINT|ARRIVES|USETMAXREG|UCGABAR\w*|UBLK\w+|ULDC|NOP|PLOP|"
    r"GETCRS\w*|SETCRS\w*|SETMAXREG|ULEPC|USETSHMSZ)$"
)
_ACROSS = re.compile(r"(SHFL|VOTEU?|MATCH|REDUX|ELECT|R2UR|UR2UP|UP2UR|P2R|R2P)(\.|$)")
_MODIFIERS = range(72, 105)  # bits of an instruction; those of registers, numbers and the schedule are not among them
_OPERANDS = range(40, 64)  # modifiers where the second source is a register
_NUMBERS = (0, 1, 2, 5, 31, 32, 0x7F, 0xFF, 0x1234, 0x7FFF, 0x8000, 0xFFFF, 0x10001, 0x3F800000, 0xBFC00000, 0x7FC00000)
_WORDS = (
    *_NUMBERS,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xFFFFFFFF,
    0x7F800000,
    0xFF800000,
    0x00000001,
    0x00800000,
    0x3C003C00,
    0x7C00FC00,
    0x4F000000,
    0xCF000000,
    0x4B800000,
    0x3F000000,
)
PAIRS_OF_BITS = 40  # for each instruction of a library, besides every single bit


def disassembled(codes: Sequence[bytes]) -> list[str | None]:
    """The text of each instruction; None if it is illegal."""
    out: list[str | None] = [None] * len(codes)
    for first in range(0, len(codes), 4096):
        _fill(out, codes, list(range(first, min(first + 4096, len(codes)))))
    return out


def _fill(out: list[str | None], codes: Sequence[bytes], left: list[int]) -> None:
    """nvdisasm names the illegal instructions and prints nothing: they are left out until there are none."""
    from ptxaudit.frontend.compile import toolchains

    while left:
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(b"".join(codes[k] for k in left))
            file.flush()
            command = [toolchains.get("nvdisasm").path, "-b", "SM90a", "-c", "-ndf", file.name]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
        illegal = {int(found, 16) // SIZE for found in re.findall(r"at address (0x[0-9a-f]+)", ran.stderr)}
        if not illegal:
            if ran.returncode == 0:
                for address, text in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", ran.stdout):
                    out[left[int(address, 16) // SIZE]] = text
            elif len(left) > 1:
                _fill(out, codes, left[: len(left) // 2])
                _fill(out, codes, left[len(left) // 2 :])
            return
        left = [k for at, k in enumerate(left) if at not in illegal]


def opcode(text: str) -> str:
    """ "@!P0 IADD3.X R4, …" -> "IADD3.X"."""
    words = text.split()
    return words[1] if words[0].startswith("@") else words[0]


def form(text: str) -> str:
    """The instruction with its kinds of operands alone: one of each is enough."""
    text = re.sub(r"\b(U?R|U?P)\d+\b", r"\1", text)
    return re.sub(r"(?<![\w.])-?(0x[0-9a-f]+|\d+(\.\d+)?(e[-+]?\d+)?)\b", "#", text)


def admitted(text: str | None) -> bool:
    if text is None or "[" in text or "???" in text or "INVALID" in text or "`" in text:
        return False
    return not _OTHERS.fullmatch(opcode(text).partition(".")[0])


def admitted_registers(text: str) -> bool:
    """Only registers that hold inputs, and that may be overwritten: R4 to R23, UR8 to UR15, UP0 to UP3."""
    for kind, number in re.findall(r"\b(UR|UP|R|B)(\d+)\b", text):
        low, high = {"R": (4, 23), "UR": (8, 15), "UP": (0, 3), "B": (1, 0)}[kind]
        if not low <= int(number) <= high:
            return False
    return True


def library_instructions(paths: Iterable[Path]) -> Iterator[int]:
    """One instruction of each opcode and combination of modifiers, as a number of 128 bits."""
    from ptxaudit.base.errors import InputError
    from ptxaudit.frontend.artifacts.container import images, read_images
    from ptxaudit.frontend.artifacts.cubin import read_cubin

    known: set[int] = set()
    kept = sum(1 << k for k in (*range(12), *_MODIFIERS))
    for path in paths:
        some = [image for image in images(str(path)) if image.kind != "ptx" and image.arch in ("sm_90", "sm_90a")]
        for _, data in read_images(some):
            if isinstance(data, InputError):
                continue
            for function in read_cubin(data, path.name).functions:
                code = bytes(function.code)
                for at in range(0, len(code) // SIZE * SIZE, SIZE):
                    number = int.from_bytes(code[at : at + SIZE], "little")
                    if number & kept not in known:
                        known.add(number & kept)
                        yield number


def has_number(code: int) -> bool:
    """The second half of the lower word is a number (or a place in constant memory)."""
    return code >> 9 & 7 not in (1, 6)


def variants(code: int, rng: Random) -> Iterator[int]:
    """The instruction with one or two bits of its modifiers changed."""
    bits = [*_MODIFIERS, *([] if has_number(code) else _OPERANDS)]
    yield code
    for bit in bits:
        yield code ^ 1 << bit
    for _ in range(PAIRS_OF_BITS):
        a, b = rng.sample(bits, 2)
        yield code ^ 1 << a ^ 1 << b


def with_operands(code: int, rng: Random) -> int:
    """With registers that hold inputs. 8 and 12 are inputs as registers and as uniform registers."""
    wide = rng.random() < 0.6
    code &= ~(0xFF << 16 | 0xFF << 24 | 0xFF << 64)
    code |= rng.choice((16, 20, 16, 8) if wide else (8, 12)) << 16
    code |= rng.choice((4, 8, 12, 255) if wide else (8, 12)) << 24
    code |= rng.choice((4, 8, 12, 12, 255) if wide else (8, 12)) << 64
    if has_number(code):
        return code & ~(0xFFFFFFFF << 32) | rng.choice((*_WORDS, rng.getrandbits(32), rng.randrange(64))) << 32
    return code & ~(0xFF << 32) | rng.choice((4, 8, 12) if wide else (8, 12)) << 32


def instructions(paths: Iterable[Path], rng: Random, tries: int = 6) -> dict[str, int]:
    """By text: encodings of as many forms as there are."""
    seeds = [*library_instructions(paths), *_with_random_modifiers(rng)]
    seeds = [code for code, text in zip(seeds, _texts(seeds)) if admitted(text)]
    made = [one for seed in seeds for one in variants(seed, rng)]
    return _chosen(made, rng, tries, 1)


def instructions_across(rng: Random) -> dict[str, int]:
    """By text: encodings of instructions that read other lanes, several of each form, most of them under a guard."""
    made = list(_with_random_modifiers(rng, 48))
    made = [code for code, text in zip(made, _texts(made)) if admitted(text) and _ACROSS.match(opcode(text or ""))]
    made = [one for code in made for one in (code, *(code ^ 1 << bit for bit in _MODIFIERS))]
    guarded = [code & ~(0xF << 12) | rng.choice((7, *range(16))) << 12 for code in made for _ in range(2)]
    return _chosen(guarded, rng, 12, 12)


def _with_random_modifiers(rng: Random, each: int = 24) -> Iterator[int]:
    return (op | 7 << 12 | rng.getrandbits(33) << 72 for op in range(0x200, 0x1000) for _ in range(each))


def _chosen(made: list[int], rng: Random, tries: int, most: int) -> dict[str, int]:
    """Some of the instructions, with registers that hold inputs. most: of one form."""
    chosen: dict[str, int] = {}
    forms: Counter[str] = Counter()
    for _ in range(tries):
        now = [with_operands(code, rng) for code in made]
        left = []
        for code, before, text in zip(now, made, _texts(now)):
            if not admitted(text):
                continue
            assert text is not None
            if admitted_registers(text) and forms[form(text)] < most:
                forms[form(text)] += 1
                chosen[text] = code
            elif forms[form(text)] < most:
                left.append(before)
        made = left
    return chosen


def _texts(codes: Sequence[int]) -> list[str | None]:
    return disassembled([code.to_bytes(SIZE, "little") for code in codes])


def inputs(rng: Random) -> np.ndarray:
    """(WARPS, LANES, WORDS): of register R4 + k. Those that fill uniform registers are equal within a warp."""
    out = np.zeros((WARPS, LANES, slots.WORDS), np.uint32)
    for index in np.ndindex(out.shape):
        kind = rng.random()
        out[index] = (
            rng.choice(_WORDS)
            if kind < 0.45
            else rng.getrandbits(32)
            if kind < 0.75
            else rng.getrandbits(rng.randint(1, 32))
        )
    for r in slots.UNIFORM:
        out[:, :, r - slots.FIRST] = out[:, :1, r - slots.FIRST]
    return out


def write(folder: Path, paths: Sequence[Path], seed: int, across: bool = False) -> int:
    """Writes the plan, and returns the number of its instructions. across: of those that read other lanes, alone."""
    rng = Random(seed)
    before = inputs(rng)
    return store(
        folder, before, instructions_across(rng) if across else instructions(paths, rng), SECTIONS, slots.source
    )


def store(
    folder: Path, before: np.ndarray, chosen: Mapping[str, int], sections: int, text: Callable[[int, int, int], str]
) -> int:
    """Writes a plan, and returns the number of its instructions.

    before: the inputs; chosen: by text; sections: instructions in one launch; text: PTX of the kernel (`slots.kernel`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    first, last, nop = slots.before(), slots.after(), slots.scheduled(*slots.NOP)
    kernel = slots.kernel(len(first) + 1 + len(last), sections, WARPS * LANES, text)
    (folder / KERNEL).write_bytes(kernel.with_instructions([[*first, nop, *last]] * sections))
    np.save(folder / INPUTS, before)
    halves = {text: (code & (1 << 64) - 1, code >> 64) for text, code in chosen.items()}
    plan = {
        "places": [start + len(first) * SIZE for start in kernel.starts],
        "words": kernel.words,
        "nop": nop.hex(),
        "instructions": [[text, slots.scheduled(*half).hex()] for text, half in halves.items()],
    }
    (folder / PLAN).write_text(json.dumps(plan))
    return len(chosen)
