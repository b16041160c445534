"""Writes the data of the tests: a part of the measurements.

special_functions_sm90.npz
    device
    checksums/FUNCTION          (2, exponent fields) uint64: of all inputs with a sign and an exponent
    check                       FCHK, as measured
    operands/TYPE, operations/PTX       one in EVERY
    names, indices/VARIANT      (kernels,) and (kernels, x): the first threads; other variants as XOR with O3
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

NAME = "special_functions_sm90.npz"
EXPONENT_BITS = {"rcp64h": 11, "rsq64h": 11}  # 8 for the others
EVERY = 12  # one operand of the operations in this many is kept
X = 256  # indices of this many threads are kept
BASE = "O3"


def write(measured: Path, output: Path) -> None:
    np.savez_compressed(output / NAME, **reduced(np.load(measured)))


def reduced(data: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    out = {"device": data["device"], "check": data["check"]}
    for key in data.keys():
        kind, _, name = key.partition("/")
        if kind == "checksums":
            out[key] = data[key].reshape(2, 1 << EXPONENT_BITS.get(name, 8), -1).sum(axis=-1, dtype=np.uint64)
        elif kind in ("operands", "operations"):
            out[key] = _narrow(data[key][..., ::EVERY])
    of_indices = [key.split("/") for key in data.keys() if key.startswith("indices/")]
    names = list(dict.fromkeys(name for _, _, name in of_indices))
    out["names"] = np.array(names)
    for variant in dict.fromkeys(variant for _, variant, _ in of_indices):
        found, base = (np.stack([data[f"indices/{of}/{name}"][:X] for name in names]) for of in (variant, BASE))
        out[f"indices/{variant}"] = found if variant == BASE else found ^ base
    return out


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """The numbers in the narrowest type."""
    return numbers.astype(
        next(
            kind
            for kind in (np.uint8, np.uint16, np.uint32, np.uint64)
            if int(numbers.max(initial=0)) <= np.iinfo(kind).max
        )
    )
