"""The task of an execution (`exec`) or an inference (`fixpoint`): the figures of some accesses of a kernel.

Task(graph, launch, machine, facts, {7: Access("LDS.128", …)}, {7: 7})  ->  {7: SiteResult(…)}
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxaudit.base.records import Record
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.graph import Graph
from ptxaudit.ir.nodes import Function


class Task(Record, eq=False):
    """The accesses to answer for, and everything that the answers depend on.

    launch: as far as it is specified. originals: access -> the first copy of the same instruction, which represents
    all copies.
    """

    graph: Graph
    launch: Launch | None
    machine: Machine
    facts: Facts
    accesses: Mapping[int, Access]
    originals: Mapping[int, int]

    @property
    def function(self) -> Function:
        """The kernel."""
        return self.graph.function

    @property
    def whole(self) -> Launch | None:
        """The launch, if it specifies a grid and a block."""
        launch = self.launch
        return None if launch is None or launch.grid is None or launch.block is None else launch
