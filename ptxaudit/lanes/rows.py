"""The warps that inference looks at: those of the launch, of the stated block, or of the shapes a
block may have when nothing is told.

When no shape is told, the *assumed* rows are warps of 32 consecutive `tid.x`; further groups of
rows are warps of narrower blocks (16, 12 and 8 wide), in which a warp spans several `tid.y`. A site
whose requests look alike in all groups does not depend on the shape; another one is told case by case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ir import Function
from .env import LANES, Environment, Facts, thread_rows
from .value import Uniform, Value

NARROW = (16, 12, 8)      # block widths, in threads, that show what a narrow block would change


@dataclass(frozen=True)
class Rows:
    """env: all rows. groups: (what a group of rows stands for, its rows); the first is the assumed one.

    assumed: sentences for the report. partial: warps of the launch whose lanes may be fewer.
    """

    env: Environment
    groups: tuple[tuple[str, slice], ...]
    assumed: tuple[str, ...] = ()
    partial: bool = False

    @property
    def shape_known(self) -> bool:
        return len(self.groups) == 1


def rows_for(function: Function, launch, told, facts: Facts) -> Rows:
    """launch: with a shape, or None; told: a launch whose parameters count, or None."""
    from .evaluate import _three, environment
    if launch is not None:
        block = _three(launch.block)
        return Rows(environment(function, launch, facts, block), (("the launch", slice(None)),))
    param_bytes, param_known = (b"", b"") if told is None else told.buffer(function)
    stated = dict(cluster=function.cluster, facts=facts, dynamic_shared=facts.dynamic_shared, grid=facts.grid,
                  param_bytes=param_bytes, param_known=param_known)
    block = facts.block or function.block
    if block is not None:
        exists, tid, warp = thread_rows(block)
        return Rows(Environment(function, exists, tid, warp, block=block, **stated), (("the stated block", slice(None)),))
    return _assumed_rows(function, stated)


def _assumed_rows(function: Function, stated: dict) -> Rows:
    limit = function.max_threads or 1024
    wide = max(1, -(-min(limit, 1024) // LANES))
    lanes = np.arange(LANES, dtype=np.uint32)
    xs = [np.arange(wide * LANES, dtype=np.uint32).reshape(wide, LANES)]
    ys = [np.zeros((wide, LANES), np.uint32)]
    warps = [np.arange(wide, dtype=np.uint32)[:, None]]
    widths = [np.zeros((wide, 1), np.uint32)]
    steps = [np.ones((wide, 1), np.uint32)]
    groups = [("32 consecutive tid.x a warp", slice(0, wide))]
    at = wide
    for width in NARROW:
        rows = np.lcm(width, LANES) // LANES
        linear = np.arange(rows * LANES, dtype=np.uint32).reshape(rows, LANES)
        xs.append(linear % np.uint32(width))
        ys.append(linear // np.uint32(width))
        warps.append(np.arange(rows, dtype=np.uint32)[:, None])
        widths.append(np.full((rows, 1), width, np.uint32))
        steps.append(np.full((rows, 1), rows * LANES // width, np.uint32))
        groups.append((f"block.x = {width}", slice(at, at + rows)))
        at += rows
    x, y = np.concatenate(xs), np.concatenate(ys)
    step = np.concatenate(steps)
    row_y = Uniform("tid.y", 32, 0, 0, 1023, "block shape", "tid.y")
    tid_y = Value(y, ((row_y, step),))
    tid_z = Value(np.zeros((1, 1), np.uint32), ((Uniform("tid.z", 32, 0, 0, 63, "block shape", "tid.z"), np.ones((1, 1), np.uint32)),))
    env = _ShapedEnvironment(function, np.ones((at, LANES), bool), (x, tid_y, tid_z), np.concatenate(warps), **stated)
    env.widths = np.concatenate(widths)
    where = f"launch bounds say at most {limit} threads" if function.max_threads else "no block shape in the file"
    assumed = f"block: {where}; a warp is taken as 32 consecutive tid.x"
    return Rows(env, tuple(groups), (assumed,))


class _ShapedEnvironment(Environment):
    """Rows of blocks of several widths: ntid.x is known where the group fixes it."""

    widths: np.ndarray

    def _extent(self, name, told, d, limit):
        value = super()._extent(name, told, d, limit)
        if name != "ntid" or d != 0 or told is not None:
            return value
        width = Uniform("ntid.x", 32, 5, LANES, limit, "block shape", ("ntid", 0))
        return Value(self.widths, ((width, (self.widths == 0).astype(np.uint32)),))
