"""Machine code for architectures that the disassembler no longer reads: one error for all of it in a file.

TooOld.of(60, "lib.so", ("lib.so#1", "lib.so#4"), ptx=True)   machine code for sm_60 in 2 images; the disassembler …
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ptxaudit.base.errors import InputError

OLDEST_SM = 75  # the oldest that the disassembler reads
# (oldest SM number, the last CUDA major whose nvdisasm reads it): release notes of CUDA 13.0, 12.0 and 11.0
_READ_BY = ((50, 12), (35, 11), (30, 10))


@dataclass(eq=False)
class TooOld(InputError):
    """Machine code for an architecture, an SM number, below `OLDEST_SM`."""

    sm: int = 0

    @classmethod
    def of(cls, sm: int, file: str, images: Sequence[str] = (), ptx: bool = False) -> TooOld:
        """images: all of the file's for this architecture, if there are several. ptx: whether the file has PTX, too."""
        release = next((release for oldest, release in _READ_BY if sm >= oldest), None)
        where = f" in {len(images):,} images" if images else ""
        todo = f"audit the PTX of the file (--isa ptx), or build for sm_{OLDEST_SM} or newer"
        if not ptx:
            todo = f"audit the PTX that it was made of, or build for sm_{OLDEST_SM} or newer"
        if release is not None:
            todo += f"; to read the code itself, nvdisasm of CUDA {release} still prints it"
        return cls(
            f"machine code for sm_{sm}{where}; the disassembler reads sm_{OLDEST_SM} and newer",
            todo,
            file,
            lasting=True,
            images=tuple(images),
            sm=sm,
        )


def by_architecture(errors: Iterable[TooOld], file: str, ptx: bool) -> Iterator[TooOld]:
    """One error per architecture, for all of a file's images. file: its path. ptx: whether it has PTX, too."""
    by_sm: dict[int, list[str]] = {}
    for error in errors:
        by_sm.setdefault(error.sm, []).append(error.file or file)
    for sm, names in by_sm.items():
        yield TooOld.of(sm, names[0], ptx=ptx) if len(names) == 1 else TooOld.of(sm, file, names, ptx)
