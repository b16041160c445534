"""The parts of a kernel's entry other than its sites: its launch, code, occupancy and cost distribution."""

from __future__ import annotations

from typing import Any

from msgspec.structs import force_setattr

from ptxaudit.base.records import KeyedRecord, Record
from ptxaudit.report.entry import Entry


class Share(Entry):
    """The cost of a loop or a line: sums over its exact sites; a loop includes the loops inside it. place: the line;
    for a loop, that of the branch back to its head; text: of that line, if known; depth: 1 for an outermost loop; for
    a line, the number of loops around it; open: sites without a settled figure; trips: per warp in total, by how
    often the busiest access outside inner loops is issued; spill_wavefronts, spill_sectors: for registers spilled to
    shared and to local memory. share, sectors_share: of the launch's wavefronts and sectors, 0 to 1."""

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
    """Sums over the settled sites; `complete` if all sites are settled. ways: the maximum."""

    sites: int
    status: dict[str, int]
    complete: bool
    requests: int
    wavefronts: int
    ideal: int
    excess: int
    ways: int | None


class Spills(Entry):
    """Bytes of registers that a kernel's instructions store to local memory for lack of registers, and load again, as
    `ptxas -v` counts them; bytes: the sum of both; shared: the same sum for registers spilled to shared memory, which
    it does not count."""

    stores: int
    loads: int
    bytes: int
    shared: int = 0

    @property
    def everywhere(self) -> int:
        return self.bytes + self.shared


class Step(Entry):
    """Where the number of blocks per multiprocessor changes, other things being equal. resource: "registers" (per
    thread) | "shared memory" (bytes per block); at: the most of it with more blocks, or the least with fewer;
    percent, blocks_per_sm: the occupancy there."""

    resource: str
    at: int
    percent: float
    blocks_per_sm: int


class Occupancy(KeyedRecord, forbid_unknown_fields=True):
    """The warps of a kernel that a multiprocessor holds at a time, in percent of its maximum. limiter: what prevents
    more blocks, "shared memory" | "threads" | "blocks" | "registers" | "barriers". steps: the next ones up and
    down."""

    percent: float
    blocks_per_sm: int
    limiter: str
    steps: tuple[Step, ...] = ()  # determined by the other fields

    def key(self) -> tuple[Any, ...]:
        return self.percent, self.blocks_per_sm, self.limiter


class Code(Entry):
    """The instructions of a kernel in the file. opcodes: the number of each; order: a digest of their sequence,
    without operands."""

    opcodes: dict[str, int]
    order: str


class LaunchRecord(Entry):
    """The launch that a kernel was audited under, as given; None in params = not specified."""

    grid: tuple[int, ...] | None
    block: tuple[int, ...] | None
    cluster: tuple[int, ...] | None = None
    dynamic_shared: int = 0
    params: tuple[Any, ...] | None = None
    param_bytes: str | None = None  # hex
    symbols: dict[str, Any] | None = None  # contents of __constant__ and __device__ variables

    def __post_init__(self) -> None:
        """Converts the lists that JSON has for structs and arrays."""
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
