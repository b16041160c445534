"""The opcodes of PTX that compute on registers, enumerated from the frontend's rows: modifiers and types that a row
declares, in an order that ptxas accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from ptxaudit.frontend.ptx import moves, narrow, opcodes, video
from ptxaudit.frontend.ptx.lift import meaning
from ptxaudit.frontend.ptx.types import TYPES

ROWS = opcodes.ROWS | narrow.ROWS | moves.ROWS | video.ROWS
LEFT_OUT = frozenset(("mov", "cvta", "isspacep"))  # vectors, which `programs` adds, and addresses
UNMODELLED = tuple("vmin vmax vmad vset vavrg2 vadd2 vadd4 vsub4 vmin4 vmax4 vset4 testp tanh rnd".split())
# Modifiers that no row declares: forms with them count as unknown.
OTHERS = {"min": "xorsign_abs", "max": "xorsign_abs", "fma": "relu oob", "add": "", "cvt": "rs"}
MOST = 3  # modifiers besides types
TYPES_OF = {"cvt": 2, "set": 2, "slct": 2, "dp4a": 2, "dp2a": 2, "vabsdiff4": 3} | dict.fromkeys(
    ("vadd", "vsub", "vshl", "vshr", "vmin", "vmax", "vmad", "vset"), 3
)
RANKS = (
    "to pack approx full lo hi wide l r shiftamt eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan and or xor"
    " rn rz rm rp rna rs rni rzi rmi rpi ftz NaN xorsign_abs oob sat satfinite relu clamp wrap cc add"
).split()
RANK = {name: at for at, name in enumerate(RANKS)}
EXCLUSIVE = tuple(
    frozenset(group.split())
    for group in (
        "rn rz rm rp rna rs rni rzi rmi rpi",
        "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
        "and or xor",
        "lo hi wide",
        "clamp wrap",
        "approx full",
        "l r",
        "f4e b4e rc8 ecl ecr rc16",
        "sat satfinite",
    )
)
AFTER = frozenset(("prmt", *video.ROWS, *UNMODELLED))  # modifiers may follow the types


def candidates(base: str) -> Iterator[str]:
    """Opcodes of a base name with all modifiers that its row declares; many have no meaning."""
    words = (ROWS[base].modifiers if base in ROWS else "clamp wrap add sat").split() + OTHERS.get(base, "").split()
    words = sorted(set(words), key=lambda w: RANK.get(w, len(RANK)))
    count = TYPES_OF.get(base, 1)
    names = [n for n in TYPES if count == 1 or count == 2 or TYPES[n].bits == 32 and TYPES[n].kind in "su"]
    for number in range(MOST + 1):
        for chosen in combinations(words, number):
            if any(len(group.intersection(chosen)) > 1 for group in EXCLUSIVE):
                continue
            for types in product(names, repeat=count):
                yield ".".join((base, *chosen, *types))
                if chosen and base in AFTER:
                    yield ".".join((base, *types, *chosen))


def modelled() -> list[str]:
    """The opcodes that a row gives a meaning."""
    bases = [base for base in ROWS if base not in LEFT_OUT]
    return [text for base in bases for text in candidates(base) if meaning(text) is not None]
