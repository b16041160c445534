"""Counts the cost of an analysis in steps and bytes, not in seconds: one input has one answer on every machine.

    account = Account.for_budget(20)                   # the account of `--budget 20`
    account.spend(len(block), "running the launch")    # raises Exhausted once the steps are used up
    with account.part(0.25) as some:                   # a quarter of what is left, for an attempt that may fail
        try_it(some)
    account.hold(size, "a local array")                # raises Exhausted for more bytes than are left
    account.within(size)                               # a smaller limit on bytes, which also come from the account
    account.begun()                                    # another that continues from here: what is spent so far
                                                       # counts in both

Accounts follow the stages. Data read from a file take their bytes from the account of the file. The account of a
kernel continues from it, and pays for linking the kernel with its callees and for its graph; the account of each
launch continues from that of the kernel. (The steps of reading a file grow only with its length, which `limits`
bounds.)

A *step* is about the work of looking up one definition, or of visiting one edge of a graph. Longer work takes the
steps in the table below, and work on arrays takes elements / ELEMENTS_PER_STEP more. The table was fitted to
processor time: over 2,200 kernels of libraries, samples and measured launches, with and without a launch, a step
takes 0.6 to 0.9 microseconds for half of them, 0.4 to 2 for nine in ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

STEPS_PER_SECOND = 1_500_000  # of `--budget SECONDS`: a unit of work, not a clock
ELEMENTS_PER_STEP = 250  # array elements per additional step
DEFAULT_BUDGET = 60.0  # seconds: without a budget, a run that waits for another block would never end
DEFAULT_BYTES = 1 << 30  # memory that an input may make one analysis hold

# steps of work that takes more than one
INSTRUCTION = 3  # reading it, copying it, or adding it to a graph
SLICED = 6  # adding an instruction to a slice: finding what it reads
OPERATION = 12  # executing one on the lanes of some warps, plus the elements of its results
BLOCK = 40  # starting one: a state, a view of it, an edge to a successor
REQUEST = 50  # recording or scoring one, plus its lanes


class Exhausted(Exception):
    """An account is used up. what: the work that exhausted it; limit: the account's size; unit: "steps" | "bytes".
    count: the number of these exceptions so far in this process, including those that were handled.
    """

    count = 0

    def __init__(self, what: str, limit: int, unit: str):
        Exhausted.count += 1
        self.what, self.limit, self.unit = what, limit, unit
        super().__init__(f"{what}: more than {limit:,} {unit}")


@dataclass(slots=True)
class Account:
    """The steps and bytes that are left; `limit` and `most` are the initial amounts (None = no limit)."""

    limit: int | None = None
    most: int = DEFAULT_BYTES
    spent: int = 0
    held: int = 0
    payer: Account | None = None  # the account that these bytes also come from

    @classmethod
    def for_budget(cls, seconds: float | None) -> Account:
        """The account for `--budget`."""
        return cls(None if seconds is None else int(seconds * STEPS_PER_SECOND))

    def spend(self, steps: int, what: str) -> None:
        """Takes steps. Raises Exhausted if fewer are left."""
        self.spent += steps
        if self.limit is not None and self.spent > self.limit:
            raise Exhausted(what, self.limit, "steps")

    def hold(self, size: int, what: str) -> None:
        """Takes bytes. Raises Exhausted if fewer are left."""
        if self.held + size > self.most:
            raise Exhausted(what, self.most, "bytes")
        if self.payer is not None:
            self.payer.hold(size, what)
        self.held += size

    def within(self, most: int) -> Account:
        """An account for at most `most` of these bytes."""
        return Account(self.limit, most, payer=self)

    def begun(self, budget: float | None = None) -> Account:
        """An account of the same size, or for a budget in seconds, that starts with what was spent and held so far."""
        limit = self.limit if budget is None else self.for_budget(budget).limit
        return Account(limit, self.most, self.spent, self.held)

    def share(self, part: float) -> int:
        """The number of steps in a part of the whole account; without a limit, of the default budget."""
        whole = DEFAULT_BUDGET * STEPS_PER_SECOND if self.limit is None else self.limit
        return int(part * whole)

    @contextmanager
    def part(self, part: float) -> Iterator[Account]:
        """A separate account for a part of the steps that are left; this one pays for what was spent of it."""
        left = None if self.limit is None else int(part * max(0, self.limit - self.spent))
        some = Account(left, self.most, 0, self.held)
        try:
            yield some
        finally:
            self.spent += some.spent if left is None else min(some.spent, left)


def elements(size: int) -> int:
    """The steps for work on this many array elements."""
    return size // ELEMENTS_PER_STEP
