"""The semantics of operations: exact on known values, by sound rules on abstract values. `table` has all rows."""

from ptxaudit.engine.ops.row import Origin, Row
from ptxaudit.engine.ops.table import OPS

__all__ = ["OPS", "Origin", "Row"]
