"""Accesses without a rule for their lanes, in routines that are called from several places: one site, as one instruction."""

from __future__ import annotations

import pytest
from machine_code import from_cuda

import ptxaudit

ARRIVALS = """__device__ __noinline__ void arrive(unsigned m, unsigned k) {
    for (unsigned i = 0; i < k; i++) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(m));
}
extern "C" __global__ void k(unsigned* out) {
    __shared__ __align__(8) unsigned long long bar[2]; unsigned m = (unsigned)__cvta_generic_to_shared(bar);
    if (threadIdx.x < 2) asm volatile("mbarrier.init.shared.b64 [%0], 1000;" :: "r"(m + threadIdx.x * 8));
    __syncthreads();
    arrive(m, 1); __syncthreads(); if (threadIdx.x < 32) arrive(m + 8, 3);
    out[threadIdx.x] = 1;
}"""
# The routine tests whether its address is in shared memory; in one of its calls it is certainly in global memory.
ATOMICS = """__device__ __noinline__ unsigned long long add(unsigned long long* p) { return atomicAdd(p, 3ull); }
extern "C" __global__ void k(unsigned long long* out, unsigned long long** other) {
    out[threadIdx.x + 512] = add(out + threadIdx.x) + add(other[threadIdx.x]);
}"""


def audited(source: str, tmp_path, **launch):
    path = tmp_path / "k.cubin"
    path.write_bytes(from_cuda(source))
    report = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=(1,), block=(64,), **launch)])
    assert not report.problems
    return [site for kernel in report.kernels for site in kernel.sites]


def test_requests_of_all_calls_are_summed_in_one_site(tmp_path) -> None:
    sites = audited(ARRIVALS, tmp_path)
    assert len({site.offset for site in sites}) == len(sites)
    ran = [site for site in sites if "ARRIVE" in site.opcode and site.status != "unreached"]
    assert [site.requests for site in ran] == [5]  # two warps once, one of them three times


@pytest.mark.parametrize("params", [(), (0x7F00_0000_0000, 0x7F00_0001_0000)])
def test_property_of_one_call_is_not_claimed_for_all(params, tmp_path) -> None:
    sites = audited(ATOMICS, tmp_path, **({"params": list(params)} if params else {}))
    assert len({site.offset for site in sites}) == len(sites)
    assert all(site.requests != 2 for site in sites if site.opcode.startswith("ATOM.E"))
