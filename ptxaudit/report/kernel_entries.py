"""What a report says of a kernel beside its sites: its launch, its code, its occupancy, where its cost lies."""

from __future__ import annotations

from typing import Any

from msgspec.structs import force_setattr

from ptxaudit.base.records import KeyedRecord, Record
from ptxaudit.report.entry import Entry


class Share(Entry):
    """A loop, or a line, with the sums of its exact sites, of a loop those in loops inside of it included. place: the
    line; of a loop that of the branch that leads back; text: of it, where it is known; depth: 1 for an outermost loop;
    of a line, loops around it; open: sites without a settled figure; trips: of a warp, in all, by how often its busiest
    access outside of inner loops is issued; spill_wavefronts, spill_sectors: of registers spilled there, to shared and
    to local memory. share, sectors_share: of the launch's wavefronts and sectors, 0 to 1."""

    place: str
    depth: int
    sites: int
    open: int
    trips: float | None
    wavefronts: int
    excess: int
    sectors: int
    sectors_excess: int
    spill_sectors: int
    share: float | None
    sectors_share: float | None
    spill_wavefronts: int = 0
    text: str | None = None


class Totals(Record):
    """Sums over the settled sites; `complete` when that is every site. ways: the largest."""

    sites: int
    status: dict[str, int]
    complete: bool
    requests: int
    wavefronts: int
    ideal: int
    excess: int
    ways: int | None


class Spills(Entry):
    """Bytes of registers that the instructions of a kernel store to local memory because there are too few, and load
    again, as `ptxas -v` counts them; bytes: both together; shared: both of registers that are spilled to shared memory,
    which it does not count."""

    stores: int
    loads: int
    bytes: int
    shared: int = 0

    @property
    def everywhere(self) -> int:
        return self.bytes + self.shared


class Step(Entry):
    """Where the blocks of a multiprocessor change, all else as it is. resource: "registers" (of a thread) | "shared
    memory" (bytes of a block);
    at: the most of it with more blocks, or the least of it with fewer; percent, blocks_per_sm: the occupancy there."""

    resource: str
    at: int
    percent: float
    blocks_per_sm: int


class Occupancy(KeyedRecord, forbid_unknown_fields=True):
    """Warps that a multiprocessor holds of a kernel at a time, in percent of the most that it can. limiter: what allows
    no more blocks, "shared memory" | "threads" | "blocks" | "registers" | "barriers". steps: the next ones up and
    down."""

    percent: float
    blocks_per_sm: int
    limiter: str
    steps: tuple[Step, ...] = ()  # what follows from the others

    def key(self) -> tuple[Any, ...]:
        return self.percent, self.blocks_per_sm, self.limiter


class Code(Entry):
    """The instructions of a kernel as they stand in the file. opcodes: how many of each; order: a digest of their
    sequence, without operands."""

    opcodes: dict[str, int]
    order: str


class LaunchRecord(Entry):
    """The launch a kernel was audited under, as given; None in params = not specified."""

    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    cluster: tuple[int, ...] | None = None
    dynamic_shared: int = 0
    params: tuple[Any, ...] | None = None
    param_bytes: str | None = None  # hex
    symbols: dict[str, Any] | None = None  # what __constant__ and __device__ variables hold

    def __post_init__(self) -> None:
        """Read from JSON, structs and arrays are lists."""
        if self.params is not None:
            force_setattr(self, "params", _tuples(self.params))
        if self.symbols is not None:
            force_setattr(self, "symbols", {name: _tuples(value) for name, value in self.symbols.items()})

    def __str__(self) -> str:
        parts = [f"{name} {shape(dims)}" for name, dims in (("grid", self.grid), ("block", self.block)) if dims]
        if self.cluster and any(n != 1 for n in self.cluster):
            parts.append(f"cluster {shape(self.cluster)}")
        return ", ".join(parts) or "grid and block not specified"


def _tuples(value: Any) -> Any:
    return tuple([_tuples(item) for item in value]) if isinstance(value, (list, tuple)) else value


def shape(dims: tuple[int, ...]) -> str:
    """(32, 8, 1) -> "32×8"."""
    used = max((at for at, extent in enumerate(dims, 1) if extent != 1), default=1)
    return "×".join(map(str, dims[:used]))
