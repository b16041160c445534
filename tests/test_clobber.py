"""Instructions without a meaning write the registers that they name, and no others."""

import pytest
from machine_code import from_ptx

from ptxaudit.frontend.sass.lift import lift_cubin

TRANSPOSE = """
.visible .entry transpose(.param .u64 p) {
    .reg .b64 %a; .reg .b32 %r<9>;
    ld.param.u64 %a, [p];
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a];
    movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r1;
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r2;
    movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r3;
    movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r4;
    st.global.v4.u32 [%a], {%r5, %r6, %r7, %r8};
    ret;
}
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_movmatrix_writes_one_register(arch):
    function = lift_cubin(from_ptx(TRANSPOSE, arch), "transpose.cubin").functions["transpose"]
    written = [[d for op in i.ops for d in op.dst] for i in function.instructions if i.text.startswith("MOVM")]
    assert [len(registers) for registers in written] == [1, 1, 1, 1], written
