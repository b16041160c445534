"""Accesses of 32 bytes per lane, which ptxas compiles for sm_100: their registers, and the sectors of a request."""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import from_ptx

import ptxaudit
from ptxaudit.frontend.launch.launch import Launch

WORDS = 8
LANES = np.arange(32)
# Each lane loads eight words; those at WANTED are indices of further loads.
KERNEL = """.visible .entry k(.param .u64 given, .param .u64 other, .param .u64 out)
{{ .reg .u32 %r<20>; .reg .u64 %a<20>; mov.u32 %r1, %tid.x; ld.param.u64 %a1, [given]; ld.param.u64 %a2, [other];
ld.param.u64 %a3, [out]; mul.wide.u32 %a4, %r1, 32; add.u64 %a4, %a4, %a1; mul.wide.u32 %a5, %r1, 4; add.u64 %a5, %a5, %a3;
ld.global.nc.v8.b32 {{{words}}}, [%a4]; mov.u32 %r3, 0;
{loads} st.global.u32 [%a5], %r3; ret; }}
"""
LOAD = """mul.wide.u32 %a6, %r1{word}, 4; add.u64 %a6, %a6, %a2; ld.global.u32 %r2, [%a6]; add.u32 %r3, %r3, %r2;
"""


def audited(data: bytes, tmp_path, **launch):
    path = tmp_path / "k.cubin"
    path.write_bytes(data)
    report = ptxaudit.audit(path, space="global", launches=[Launch("k", grid=(1,), block=(32,), **launch)])
    assert not report.problems
    return [site for kernel in report.kernels for site in kernel.memory]


@pytest.mark.parametrize(
    "wanted", [(1, 4, 6), (0,), (7,), (2, 3), (4, 5, 6, 7), (0, 3, 7), tuple(range(WORDS))], ids=str
)
def test_words_of_a_32_byte_load_are_in_their_registers(wanted: tuple[int, ...], tmp_path) -> None:
    """ptxas loads only the wanted words, into consecutive registers, and says which in a mask."""
    words = ", ".join(f"%r1{word}" if word in wanted else "_" for word in range(WORDS))
    text = KERNEL.format(words=words, loads="".join(LOAD.format(word=word) for word in wanted))
    given = np.zeros((32, WORDS), np.uint32)
    for word in range(WORDS):
        given[:, word] = LANES * (word + 1)
    sites = audited(from_ptx(text, "sm_100"), tmp_path, params=[given.ravel(), np.zeros(512, np.uint32), None])
    assert sites[0].opcode.startswith("LDG.E.ENL2.256") and sites[0].sectors == 32
    loads = [site for site in sites[1:] if site.opcode.startswith("LDG")]
    assert sorted(site.sectors for site in loads) == [4 * (word + 1) for word in wanted]


@pytest.mark.parametrize("step, sectors, lines", [(32, 32, 8), (64, 32, 16), (0, 1, 1), (160, 32, 32)])
def test_store_of_32_bytes_per_lane_is_one_sector(step: int, sectors: int, lines: int, tmp_path) -> None:
    text = f""".visible .entry k(.param .u64 out) {{ .reg .u32 %r<4>; .reg .u64 %a<4>; mov.u32 %r1, %tid.x;
ld.param.u64 %a1, [out]; mad.wide.u32 %a2, %r1, {step}, %a1;
st.global.v8.b32 [%a2], {{%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}}; ret; }}
"""
    (site,) = audited(from_ptx(text, "sm_100"), tmp_path, params=[0x7F0000000000])
    assert site.opcode == "STG.E.ENL2.256" and site.status == "exact"
    assert (site.sectors, site.tag_requests, site.bytes_used) == (sectors, lines, 32 * 32)
