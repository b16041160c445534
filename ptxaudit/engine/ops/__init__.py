"""What each operation means: on known values exactly, on abstract values by sound rules. All rows are in `table`."""

from ptxaudit.engine.ops.row import Origin, Row
from ptxaudit.engine.ops.table import OPS

__all__ = ["OPS", "Origin", "Row"]
