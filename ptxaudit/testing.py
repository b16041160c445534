"""For tests of CUDA projects: `assert_conflict_free` compiles, audits, and fails with the lines that conflict.

    from ptxaudit.testing import assert_conflict_free

    def test_transpose():
        assert_conflict_free("transpose.cu", launch={"kernel": "transpose", "grid": (2, 2), "block": (32, 32)})

No GPU is needed. In pytest, `--ptxaudit-toolchain 12.9` runs the same assertions under another CUDA
release, and `--ptxaudit-report DIR` keeps an HTML report of each.
"""

from ptxaudit.ui.assertions import assert_conflict_free, defaults

__all__ = ["assert_conflict_free", "defaults"]
