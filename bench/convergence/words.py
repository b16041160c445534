"""The sm_90 instructions of which programs with convergence barriers consist, as 128-bit words.

    bssy(0, 3)         BSSY B0, three instructions after the next one
    bra(-2, P0)        @P0 BRA to the instruction before this one

Encodings as `nvdisasm -hex` shows them for ptxas's own output. Every instruction waits for all that were issued before
it, so that nothing depends on scheduling.
"""

from __future__ import annotations

from dataclasses import dataclass

WORD = 16  # bytes per instruction
RZ, PT = 255, 7
_LOW64 = (1 << 64) - 1


@dataclass(frozen=True)
class Guard:
    """`@P` or `@!P`."""

    number: int
    negated: bool = False

    @property
    def field(self) -> int:
        return self.number | self.negated << 3


ALWAYS = Guard(PT)
_UNSET = 7  # no scoreboard
_ALL_SCOREBOARDS = 0x3F
_STALL = 15  # cycles to the next instruction


def word(low: int, high: int, guard: Guard = ALWAYS, written: int = _UNSET, read: int = _UNSET) -> bytes:
    """An instruction from its two halves, without guard (bits 12 to 15) and scheduling control (bits 105 to 125).

    written, read: the scoreboards with which others wait until its result is available, or its operands have been
    read.
    """
    low = low & ~(0xF << 12) | guard.field << 12
    control = _STALL | written << 5 | read << 8 | _ALL_SCOREBOARDS << 11
    high = high & ((1 << 41) - 1) | control << 41
    return (low & _LOW64).to_bytes(8, "little") + (high & _LOW64).to_bytes(8, "little")


def keeping(code: bytes) -> bytes:
    """The same instruction with bit 109 set, with which a warp keeps its turn."""
    return (int.from_bytes(code, "little") | 1 << 109).to_bytes(WORD, "little")


def _far(distance: int) -> tuple[int, int]:
    """(low, high) bits of a displacement, in instructions from the next one."""
    units = distance * WORD // 4
    units &= (1 << 56) - 1
    top = units >> 8
    return (units & 0xFF) << 16 | (top & ((1 << 30) - 1)) << 34, top >> 30


def bra(distance: int, guard: Guard = ALWAYS) -> bytes:
    low, high = _far(distance)
    return word(0x7947 | low, 0x03800000 | high, guard)


def call(distance: int) -> bytes:
    low, high = _far(distance)
    return word(0x7944 | low, 0x03C00000 | high)


def ret(register: int, distance: int) -> bytes:
    """RET.REL.NODEC to the address in a register pair, relative to the instruction `distance` after the next one."""
    low, high = _far(distance)
    return word(0x7950 | register << 24 | low, 0x03C00000 | high)


def brx(register: int, distance: int) -> bytes:
    """BRX to the address in a register pair, relative to the instruction `distance` after the next one."""
    low, high = _far(distance)
    return word(0x7949 | register << 24 | low, 0x03800000 | high)


def bssy(barrier: int, distance: int, guard: Guard = ALWAYS) -> bytes:
    """BSSY. distance: to the place after the BSYNC, in instructions from this one."""
    return word(0x7945 | barrier << 16 | (distance * WORD & 0xFFFFFFFF) << 32, 0x03800000, guard)


def bsync(barrier: int, guard: Guard = ALWAYS) -> bytes:
    return word(0x7941 | barrier << 16, 0x03800000, guard)


def break_(barrier: int, guard: Guard = ALWAYS) -> bytes:
    return word(0x7942 | barrier << 16, 0x03800000, guard)


def save(register: int, barrier: int, clear: bool = False) -> bytes:
    """BMOV.32{.CLEAR} R, B."""
    return word(0x7355 | register << 16 | barrier << 24, 0x00100000 if clear else 0, written=0)


def restore(barrier: int, register: int) -> bytes:
    """BMOV.32 B, R."""
    return word(0x7356 | barrier << 24 | register << 32, 0)


def yield_() -> bytes:
    return word(0x7946, 0x03800000)


def warpsync(register: int) -> bytes:
    return word(0x7348 | register << 24, 0x03800000)


def warpsync_all() -> bytes:
    return word(0x7948, 0x03800000)


def exit_(guard: Guard = ALWAYS) -> bytes:
    return word(0x794D, 0x03800000, guard)


def nop() -> bytes:
    return word(0x7918, 0)


def vote(register: int) -> bytes:
    """The mask of the lanes that issue this."""
    return word(0x7806 | register << 16, 0x038E0100)


def clock(register: int) -> bytes:
    return word(0x7805 | register << 16, 0x00005000, written=0)


def mov(register: int, value: int, guard: Guard = ALWAYS) -> bytes:
    return word(0x7424 | register << 16 | RZ << 24 | (value & 0xFFFFFFFF) << 32, 0x078E00FF, guard)


def copy(register: int, source: int, guard: Guard = ALWAYS) -> bytes:
    return word(0x7224 | register << 16 | RZ << 24 | RZ << 32, 0x078E0000 | source, guard)


def add(register: int, source: int, value: int, guard: Guard = ALWAYS) -> bytes:
    return word(0x7836 | register << 16 | source << 24 | (value & 0xFFFFFFFF) << 32, 0, guard)


def and_bit(predicate: int, source: int, value: int) -> bytes:
    """LOP3.LUT P, RZ, R, value, RZ, 0xc0: whether any of these bits is set."""
    return word(0x7812 | RZ << 16 | source << 24 | value << 32, 0x078000FF | 0xC0 << 8 | predicate << 17)


def rotate(register: int, source: int) -> bytes:
    """Rotates right by one bit."""
    return word(0x7819 | register << 16 | source << 24 | 0x1F << 32, 0x00010E00 | source)


def is_not_zero(predicate: int, source: int) -> bytes:
    return word(0x720C | source << 24 | RZ << 32, 0x03F05270 & ~(7 << 17) | predicate << 17)


def store(pointer: int, source: int) -> bytes:
    """STG.E.128 desc[UR4][pointer.64], source: four registers."""
    return word(0x7986 | source << 32 | pointer << 24, 0x0C101D04, read=1)


def load(register: int, pointer: int, offset: int = 0) -> bytes:
    """LDG.E R, desc[UR4][pointer.64+offset]."""
    return word(0x7981 | register << 16 | pointer << 24 | 4 << 32 | offset << 40, 0x0C1E1900, written=0)


def atomic_add(pointer: int, source: int, guard: Guard = ALWAYS) -> bytes:
    """REDG.E.ADD.STRONG.GPU desc[UR4][pointer.64], source."""
    return word(0x798E | pointer << 24 | source << 32, 0x0C10E184, guard, read=1)


def thread(register: int) -> bytes:
    """S2R R, SR_TID.X."""
    return word(0x7919 | register << 16, 0x2100, written=0)


def parameter(register: int, offset: int) -> bytes:
    """LDC.64 R, c[0x0][offset]."""
    return word(0x7B82 | register << 16 | RZ << 24 | offset // 4 << 40, 0x0A00, written=0)


def memory_descriptor() -> bytes:
    """ULDC.64 UR4, c[0x0][0x208]."""
    return word(0x7AB9 | 4 << 16 | 0x208 // 4 << 40, 0x0A00)


def wide(register: int, source: int, factor: int, base: int) -> bytes:
    """IMAD.WIDE R, source, factor, base: a pointer to an element."""
    return word(0x7825 | register << 16 | source << 24 | factor << 32, 0x078E0200 | base)
