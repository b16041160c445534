"""Prints Triton's own estimates for bench/recorded/gluon_program.py.

    python triton_estimates.py > estimates.json      with the Python in which Triton is installed

For each case [of the store, of the load], null if it has none: `gluon.language.bank_conflicts`, "the excess number of
memory accesses that each wavefront needs", which Triton computes from the two layouts. It needs no GPU.
"""

import json
import sys
from pathlib import Path

import triton
from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon import language as gl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "recorded"))
from gluon_program import CASES

BITS = {"float32": 32, "float16": 16, "float64": 64, "int8": 8}


def main():
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    found = []
    for case in CASES:
        if isinstance(case.shared, gl.PaddedSharedLayout):
            found.append([None, None])  # it fails with an assertion: "unknown layout"
            continue
        shared = case.shared._to_ir(builder)
        layouts = [layout._to_ir(builder) for layout in (case.stored, case.loaded)]
        shape, bits = list(case.shape), BITS[case.dtype]
        found.append([builder.get_shared_bank_conflicts(layout, shared, shape, bits) for layout in layouts])
    json.dump({"version": triton.__version__, "found": found}, sys.stdout)


if __name__ == "__main__":
    main()
