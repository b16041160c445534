"""What an analysis may cost, counted in steps and bytes, never in seconds: one input has one answer on every machine.

    account = Account.for_budget(20)          # what `--budget 20` stands for
    account.spend(len(block), "running a loop")        # Exhausted once the steps are used up
    account.hold(size, "a local array")                # Exhausted for more bytes than are left

A *step* is about a microsecond of work of the reference implementation: one operation on one instruction, one
edge of a graph visited, one line parsed. Work on arrays counts their elements / ELEMENTS_PER_STEP more.
"""

from __future__ import annotations

from dataclasses import dataclass

STEPS_PER_SECOND = 1_000_000       # of `--budget SECONDS`: a unit of work, not a clock
ELEMENTS_PER_STEP = 1_000          # array elements that one more step pays for
DEFAULT_BYTES = 1 << 30            # of memory that an input may make one analysis hold


class Exhausted(Exception):
    """An account is used up. what: the work that found it empty; limit: the account's size; unit: "steps" | "bytes"."""

    def __init__(self, what: str, limit: int, unit: str):
        self.what, self.limit, self.unit = what, limit, unit
        super().__init__(f"{what}: more than {limit:,} {unit}")


@dataclass(slots=True)
class Account:
    """Steps and bytes that are left; `limit` and `most` are what it began with (None = no limit)."""

    limit: int | None = None
    most: int = DEFAULT_BYTES
    spent: int = 0
    held: int = 0

    @classmethod
    def for_budget(cls, seconds: float | None) -> Account:
        """The account that `--budget` stands for."""
        return cls(None if seconds is None else int(seconds * STEPS_PER_SECOND))

    def spend(self, steps: int, what: str) -> None:
        """Takes steps; Exhausted where fewer are left."""
        self.spent += steps
        if self.limit is not None and self.spent > self.limit:
            raise Exhausted(what, self.limit, "steps")

    def hold(self, size: int, what: str) -> None:
        """Takes bytes; Exhausted where fewer are left."""
        if self.held + size > self.most:
            raise Exhausted(what, self.most, "bytes")
        self.held += size
