"""Addresses on a thread's stack, of which the alignment and the place in its window are known."""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import from_cuda

import ptxaudit

ADDRESSES = (0x7F00_0000_0000, 0x7F10_0000_0000)
LANES = np.arange(32)

BYTES = """extern "C" __global__ void k(unsigned* out, const unsigned* src) {
    unsigned t = threadIdx.x; unsigned char b[40];
    for (unsigned i = 0; i < 40; i++) b[i] = (unsigned char)(i + t);
    b[t ^ 5] = 7;
    out[t] = b[(t * 5) % 40];
}"""
MIXED = """extern "C" __global__ void k(unsigned* out, const unsigned* src) {
    __shared__ unsigned s[64]; unsigned own[16]; unsigned t = threadIdx.x;
    s[t] = t; for (unsigned i = 0; i < 16; i++) own[(i + t) & 15] = i;
    __syncthreads();
    const unsigned* p = t % 3 == 0 ? s + t : t % 3 == 1 ? own + (t & 15) : src + t * 3;
    out[t] = *p;
}"""
TABLE = """extern "C" __global__ void k(unsigned* out, const unsigned* src) {
    unsigned t = threadIdx.x; out[t] = t; __syncthreads(); out[32 + src[t]] = 1;
}"""


def audited(source: str, tmp_path, options=(), params=ADDRESSES):
    path = tmp_path / "k.cubin"
    path.write_bytes(from_cuda(source, options=options))
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,), params=list(params))
    report = ptxaudit.audit(path, space="all", launches=[launch])
    assert not report.problems
    return [site for kernel in report.kernels for site in kernel.accesses]


@pytest.mark.parametrize("options", [(), ("--opt-level", "0")], ids=str)
def test_bytes_of_an_array_are_in_known_words(options, tmp_path) -> None:
    """Which bytes are in one word is known only if the stack is aligned to words."""
    sites = [site for site in audited(BYTES, tmp_path, options) if site.opcode.startswith(("LDL.U8", "STL.U8"))]
    assert sites and all(site.status == "exact" for site in sites)
    counted = sorted(
        len({(int(place) // 4, int(lane) // 8) for lane, place in enumerate(places)})
        for places in (LANES ^ 5, LANES * 5 % 40)
    )
    assert sorted(site.sectors for site in sites)[-1] == counted[-1]


def test_generic_access_to_several_memories_is_counted_in_each(tmp_path) -> None:
    """The address of the array is a sum that wraps once: the stack pointer less the size of the frame."""
    sites = [site for site in audited(MIXED, tmp_path) if site.opcode.startswith("LD.E")]
    assert {site.space: site.status for site in sites} == {"shared": "bounded", "global": "exact", "local": "exact"}
    of = {site.space: site for site in sites}
    of_source = [lane for lane in LANES if lane % 3 == 2]
    of_array = [lane for lane in LANES if lane % 3 == 1]
    assert of["global"].sectors == len({lane * 12 // 32 for lane in of_source})
    assert of["local"].sectors == len({(lane & 15, lane // 8) for lane in of_array})


@pytest.mark.parametrize("options", [(), ("--opt-level", "0")], ids=str)
def test_parameter_indexed_by_a_register_remains_a_pointer(options, tmp_path) -> None:
    """ptxas -O0 moves the offset of each parameter to a register; what src points to is read unless a store may reach
    it."""
    given = [np.zeros(256, np.uint32), (LANES * 8 % 256).astype(np.uint32)]
    sites = [site for site in audited(TABLE, tmp_path, options, given) if site.opcode.startswith("STG")]
    assert [site.sectors for site in sites] == [4, 32]
