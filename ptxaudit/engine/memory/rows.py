"""The warps that inference examines: those of the launch, of the specified block, or of possible block shapes.

If no shape is specified, the *assumed* rows are warps of 32 consecutive `tid.x`; for kernels that read `tid.y` or
`tid.z`, further batches of rows are warps of narrower blocks (16, 12 and 8 wide), in which a warp spans several
`tid.y`. Each batch yields one case of the answer; `shapes_of` decides from the code whether other shapes may cost
more or less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.engine.domain.lanes import LANES
from ptxaudit.engine.domain.naming import special
from ptxaudit.engine.domain.value import Uniform, Value, constant, unknown
from ptxaudit.engine.memory.environment import Environment, Facts, thread_rows
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.ir.nodes import Function

WIDE = 0  # an unspecified width that is a multiple of a warp
NARROW = (16, 12, 8)  # block widths, in threads, that show the effect of a narrow block


class Rows(Record):
    """A batch of rows. env: all rows. group: what they stand for; the first batch of several is the assumed one.

    assumed: sentences for the report. shape_known: a launch or the file specifies the block's shape.
    """

    env: Environment
    group: str
    assumed: tuple[str, ...] = ()
    shape_known: bool = True


def environment(
    function: Function,
    launch: Launch | None,
    facts: Facts,
    block: tuple[int, int, int],
    concrete: dict[int, np.ndarray] | None = None,
    repeat: int = 1,
) -> Environment:
    """The rows of one block (repeated for concrete block indices)."""
    exists, tid, warp = thread_rows(block)
    if repeat > 1:
        tile: Callable[[np.ndarray], np.ndarray] = lambda a: (
            a if a.shape[0] == 1 and not a.any() and a.shape[1] == 1 else np.tile(a, (repeat, 1))
        )
        x, y, z = tid
        exists, tid, warp = np.tile(exists, (repeat, 1)), (tile(x), tile(y), tile(z)), np.tile(warp, (repeat, 1))
    param_bytes, param_known = (b"", b"") if launch is None else launch.buffer(function)
    return Environment(
        function,
        exists,
        tid,
        warp,
        block=block,
        grid=None if launch is None or launch.grid is None else three(launch.grid),
        cluster=None if launch is None else three(launch.cluster or function.cluster or (1, 1, 1)),
        dynamic_shared=None if launch is None else launch.dynamic_shared,
        param_bytes=param_bytes,
        param_known=param_known,
        facts=facts,
        concrete_block=concrete or {},
    )


def three(numbers: Iterable[int]) -> tuple[int, int, int]:
    """One to three numbers of a launch as three."""
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z


def rows_for(
    function: Function, launch: Launch | None, specified: Launch | None, facts: Facts, two_dimensional: bool
) -> list[Rows]:
    """The batches of rows to examine, the assumed one first.

    launch: one with a shape, or None; specified: a launch whose parameters are used, or None.
    two_dimensional: the slice reads %tid.y or %tid.z, so that narrow blocks are examined too, one batch per width
        (rows of several widths have fewer low zero bits in common).
    """
    if launch is not None:
        assert launch.block is not None
        return [Rows(environment(function, launch, facts, three(launch.block)), "the launch")]
    param_bytes, param_known = (b"", b"") if specified is None else specified.buffer(function)
    stated: dict[str, Any] = {
        "cluster": function.cluster,
        "facts": facts,
        "dynamic_shared": facts.dynamic_shared,
        "grid": facts.grid,
        "param_bytes": param_bytes,
        "param_known": param_known,
    }
    block = facts.block or function.block
    if block is not None:
        exists, tid, warp = thread_rows(block)
        return [Rows(Environment(function, exists, tid, warp, block=block, **stated), "the stated block")]
    limit = min(function.max_threads or 1024, 1024)
    where = f"launch bounds say at most {limit} threads" if function.max_threads else "no block shape in the file"
    assumed = (f"block: {where}; a warp is taken as 32 consecutive threadIdx.x",)
    shapes = [(WIDE, "32 consecutive threadIdx.x per warp", max(1, -(-limit // LANES)))]
    if two_dimensional:
        shapes += [(width, f"block.x = {width}", int(np.lcm(width, LANES)) // LANES) for width in NARROW]
    return [_batch(function, shape, stated, assumed) for shape in shapes]


def _batch(function: Function, shape: tuple[int, str, int], stated: dict[str, Any], assumed: tuple[str, ...]) -> Rows:
    """Rows of a block of the given (width, name, warps); width WIDE: whole warps along x."""
    width, name, rows = shape
    linear = np.arange(rows * LANES, dtype=np.uint32).reshape(rows, LANES)
    across = np.uint32(width or rows * LANES)
    step = np.full((1, 1), rows * LANES // width if width else 1, np.uint32)
    y = linear // across
    tid_y = Value(
        y if y.any() else np.zeros((1, 1), np.uint32),
        ((Uniform(special("tid", "y"), 32, 0, 0, 1023, "block shape", "tid.y"), step),),
    )
    tid_z = Value(
        np.zeros((1, 1), np.uint32),
        ((Uniform(special("tid", "z"), 32, 0, 0, 63, "block shape", "tid.z"), np.ones((1, 1), np.uint32)),),
    )
    env = _ShapedEnvironment(
        function,
        np.ones((rows, LANES), bool),
        (linear % across, tid_y, tid_z),
        np.arange(rows, dtype=np.uint32)[:, None],
        **stated,
    )
    env.width = width
    return Rows(env, name, assumed, shape_known=False)


class _ShapedEnvironment(Environment):
    """Rows of a block whose width is given, or a multiple of a warp."""

    width: int

    def _extent(self, name: str, specified: tuple[int, int, int] | None, d: int, limit: int) -> Value:
        if name != "ntid" or d != 0 or specified is not None:
            return super()._extent(name, specified, d, limit)
        if self.width:
            return constant(self.width, 32)
        return unknown(Uniform(special("ntid", "x"), 32, 5, LANES, limit, "block shape", ("ntid", 0)))
