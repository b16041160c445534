"""What an analysis may cost, counted in steps and bytes, never in seconds: one input has one answer on every machine.

    account = Account.for_budget(20)          # what `--budget 20` stands for
    account.spend(len(block), "running the launch")    # Exhausted once the steps are used up
    with account.part(0.25) as some:                   # a quarter of what is left, for something that may fail
        try_it(some)
    account.hold(size, "a local array")                # Exhausted for more bytes than are left
    account.within(size)                               # a smaller limit on bytes, which are taken from the account too
    account.begun()                                    # another that goes on from here: what is spent now counts for
                                                       both

One account goes through all stages. What is read of a file takes its bytes from the file's. That of a kernel begins
with these, and pays for joining it with what it calls and for its graph; that of each launch begins with what the
kernel's paid. (The steps of reading a file grow with its length alone, which `limits` bounds.)

A *step* is about the work of looking up one definition, or of visiting one edge of a graph. What takes longer takes as
many steps as the table below says, and work on arrays takes their elements / ELEMENTS_PER_STEP more. The table was
fitted to processor time: over 2,200 kernels of libraries, samples and measured launches, with and without a launch, a
step is 0.6 to 0.9 microseconds for half of them, 0.4 to 2 for nine in ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

STEPS_PER_SECOND = 1_500_000  # of `--budget SECONDS`: a unit of work, not a clock
ELEMENTS_PER_STEP = 250  # array elements that one more step pays for
DEFAULT_BUDGET = 60.0  # seconds: a run that waits for another block would never end
DEFAULT_BYTES = 1 << 30  # of memory that an input may make one analysis hold

# steps of what takes more than one
INSTRUCTION = 3  # read, copied, or put in its place in a graph
SLICED = 6  # taken into a slice: what it reads is looked for
OPERATION = 12  # run on the lanes of some warps, beside the elements of its results
BLOCK = 40  # begun: a state, a view of it, a way to what follows
REQUEST = 50  # noted or scored, beside its lanes


class Exhausted(Exception):
    """An account is used up. what: the work that found it empty; limit: the account's size; unit: "steps" | "bytes".
    count: how many there were so far in this process, also those that something made do without."""

    count = 0

    def __init__(self, what: str, limit: int, unit: str):
        Exhausted.count += 1
        self.what, self.limit, self.unit = what, limit, unit
        super().__init__(f"{what}: more than {limit:,} {unit}")


@dataclass(slots=True)
class Account:
    """Steps and bytes that are left; `limit` and `most` are what it began with (None = no limit)."""

    limit: int | None = None
    most: int = DEFAULT_BYTES
    spent: int = 0
    held: int = 0
    payer: Account | None = None  # whose bytes these are a part of

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
        if self.payer is not None:
            self.payer.hold(size, what)
        self.held += size

    def within(self, most: int) -> Account:
        """An account for at most so many of these bytes."""
        return Account(self.limit, most, payer=self)

    def begun(self, budget: float | None = None) -> Account:
        """An account of the same size, or for a budget in seconds, with what was spent and held so far."""
        limit = self.limit if budget is None else self.for_budget(budget).limit
        return Account(limit, self.most, self.spent, self.held)

    def share(self, part: float) -> int:
        """So many steps are a part of the whole account; of one without a limit, of the default."""
        whole = DEFAULT_BUDGET * STEPS_PER_SECOND if self.limit is None else self.limit
        return int(part * whole)

    @contextmanager
    def part(self, part: float) -> Iterator[Account]:
        """An account of its own for a part of what is left, which pays for what was spent of it."""
        left = None if self.limit is None else int(part * max(0, self.limit - self.spent))
        some = Account(left, self.most, 0, self.held)
        try:
            yield some
        finally:
            self.spent += some.spent if left is None else min(some.spent, left)


def elements(size: int) -> int:
    """Steps of work on so many elements of arrays."""
    return size // ELEMENTS_PER_STEP
