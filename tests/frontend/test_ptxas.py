"""Assembling with ptxas, and its messages."""

import pytest

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import ptxas, toolchains

PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    st.global.u64 [%rd1], %rd1;
    ret;
}
"""


def test_ptxas_assembles_for_the_given_target():
    assert ptxas.assemble(PTX).cubin.startswith(b"\x7fELF")
    assert ptxas.assemble(PTX, "sm_100").cubin != ptxas.assemble(PTX).cubin


def test_ptxas_options_are_passed_and_remarks_kept():
    assert "Used" in ptxas.assemble(PTX, options=["-v"]).log


BAD = {
    "no module": ("hello", None, None, "no .target", "complete PTX module"),
    "an unknown instruction": (PTX.replace("st.global", "sd.global"), None, 7, "any known instruction: 'sd'", ""),
    "cut in half": (PTX[:150], None, 7, "", ""),
    "a newer version": (PTX.replace("8.0", "9.88"), None, 1, "Unsupported .version 9.88", "--upgrade nvidia-cuda-nvcc"),
    "an unknown architecture": (PTX, "sm_12", None, "sm_12", "ptxas --help"),
    "an older architecture": (PTX, "sm_80", None, "higher than", "or a newer one"),
}


@pytest.mark.parametrize("case", BAD)
def test_ptxas_rejects_bad_input_with_one_message(case):
    text, arch, line, what, hint = BAD[case]
    with pytest.raises(InputError) as caught:
        ptxas.assemble(text, arch, file="k.ptx")
    error = caught.value
    assert (error.file, error.line) == ("k.ptx", line) and what in error.what and hint in error.hint
    assert "/tmp" not in error.detail


def test_missing_ptxas_is_reported(monkeypatch):
    monkeypatch.setattr(toolchains, "find", lambda kind: ())
    with pytest.raises(InputError, match="pip install nvidia-cuda-nvcc"):
        ptxas.assemble(PTX)
