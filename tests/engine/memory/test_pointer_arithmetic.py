"""Kernels that compute with the number of a pointer to a specified buffer, whose address is unknown.

A claim must hold wherever the buffers lie: a figure that depends on where is unknown, and one that does not is exact.
"""

from __future__ import annotations

import numpy as np
import pytest

import ptxaudit
from ptxaudit.frontend.launch import buffers
from ptxaudit.frontend.launch.launch import Launch

WORDS = 512
INDEX = np.random.default_rng(31).integers(0, WORDS, WORDS, dtype=np.int32)

HEAD = """
extern "C" __global__ void k(const int* p, const int* q, int n, int* out) {
    __shared__ int s[8192];
    int t = threadIdx.x;
"""
TAIL = """
    __syncthreads();
    out[t] = s[t];
}
"""
# What the kernel does with the pointers, and whether its stores to shared memory depend on where the buffers lie.
NUMBERS = {
    "pitch of a remainder": "s[t * ((unsigned)((size_t)p >> 8) % 31 + 2)] = p[t];",
    "one bit above the alignment": "s[t * (1 + ((size_t)p >> 8 & 1))] = p[t];",
    "one bit of the upper half": "s[t * (1 + ((size_t)p >> 37 & 1))] = p[t];",
    "small remainder": "s[t * (1 + ((size_t)p >> 6) % 40)] = p[t];",
    "order of two buffers": "s[t * (p < q ? 1 : 2)] = p[t];",
    "distance of two buffers": "s[t * (1 + ((q - p) >> 8 & 3))] = p[t];",
    "hash": "s[t * (((unsigned)((size_t)p >> 8) * 2654435761u >> 25) + 1) & 8191] = p[t];",
    "through local memory": "const int* two[2] = {p, q}; s[t * (1 + ((size_t)two[p[n & 255] & 1] >> 8) % 5)] = p[t];",
    "through shared memory": "__shared__ const int* h; if (!t) h = p; __syncthreads();"
    " s[t * (1 + ((size_t)h >> 8) % 5)] = 1;",
    "from another lane": "size_t o = __shfl_sync(~0u, (size_t)p >> 8, 3); s[t * (1 + o % 5)] = 1;",
    "a condition": "if ((size_t)p >> 9 & 1) s[t] = p[t]; else s[t * 2] = p[t];",
    "a number of trips": "for (int i = 0; i < ((size_t)p >> 8) % 13; ++i) s[t * 2 + i] = i;",
    "a rare place": "s[t * (((size_t)p & 0xffff) < 512 ? 32 : 1)] = p[t];",
    "a rare remainder": "s[t * ((size_t)p % 7 == 3 ? 8 : 1)] = p[t];",
    "the upper byte": "s[t * ((size_t)p >> 40 == 0x7f ? 2 : 1)] = p[t];",
    "lanes that end": "if (((size_t)p & 0xffff) < 512 && t & 1) return; s[t * 2] = p[t];",
    "stored under a condition": "__shared__ int h[128]; h[t] = t; __syncthreads(); if (((size_t)p & 0xffff) < 512) h[t] = 2 * t;"
    " __syncthreads(); s[h[t] * 2] = 1;",
    "a matrix": "__shared__ __align__(16) unsigned m[256]; m[t] = t & 3; m[t + 128] = ((size_t)p >> 9) % 5; __syncthreads();"
    " unsigned r, a = (unsigned)__cvta_generic_to_shared(m + 128 + 4 * (t & 7));"
    ' asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(a)); s[t * (r + 1)] = 1;',
    "lanes that a number names": "int o = __shfl_sync(~0u, t, ((size_t)p >> 8) % 31); s[t * ((o & 3) + 1)] = 1;",
    "null or a pointer": "const int* r = n > 512 ? nullptr : p; s[t * (r == nullptr || (size_t)p % 7 == 3 ? 8 : 1)] = p[t];",
    "which lanes": "if (t < ((size_t)p >> 8) % 31) s[t * 2] = 1;",
}
PLACES = {
    "index": "s[p[t]] = q[t];",
    "index of an index": "s[q[p[t]] & 8191] = t;",
    "bits of the alignment": "s[t * (((size_t)p & 255) == 0 ? 1 : 2)] = p[t];",
    "alignment of a moved pointer": "s[t * (((size_t)(p + n) & 15) == 0 ? 1 : 2)] = p[t];",
    "end of a range": "for (const int* i = p + t; i < p + n; i += 128) s[*i] = t;",
    "pointer that is not null": "if (p) s[p[t]] = t;",
    "distance in one buffer": "const int* e = p + (n & ~1); s[t * ((e - p) & 2 ? 3 : 1)] = p[t];",
    "one of two buffers": "s[(t & 32 ? p : q)[t]] = t;",
    "pointers in local memory": "const int* two[2] = {p, q}; s[two[n & 1][t]] = t;",
    "pointer that moves": "const int* i = p + t; for (int k = 0; k < n; k += 128, i += 128) s[*i & 1023] = k;",
    "bytes": "s[((const unsigned char*)p)[t * 4] * 4] = t;",
    "vector": "int4 v = ((const int4*)p)[t]; s[v.x] = v.y; s[v.z + 512] = v.w;",
}
STORES = "st.shared", "STS"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pointers")


def audit(folder, name, body, isa, launch):
    path = folder / f"{name.replace(' ', '_')}.cu"
    if not path.exists():
        path.write_text(HEAD + body + TAIL)
    report = ptxaudit.audit(str(path), isa=isa, launches=[launch])
    return report, [site for site in report.sites if site.opcode.startswith(STORES)]


def launch(where=buffers.FIRST_ADDRESS):
    """where: the address of the first buffer; the second one lies behind it or before it."""
    other = where + (1 << 33) * (1 if where & 0x100 else -1)
    out = np.zeros(WORDS, np.int32)
    return Launch(
        "k",
        grid=1,
        block=128,
        params=[
            buffers.Buffer(np.ascontiguousarray(INDEX).view(np.uint8), "i32", (WORDS,), None, at)
            for at in (where, other)
        ]
        + [WORDS, out],
    )


INVENTED = Launch("k", grid=1, block=128, params=[INDEX, INDEX.copy(), WORDS, np.zeros(WORDS, np.int32)])


def facts(site):
    return site.requests, site.wavefronts, site.active_requests


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("name", NUMBERS)
def test_result_that_depends_on_a_buffer_address_is_not_exact(folder, name, isa):
    _, sites = audit(folder, name, NUMBERS[name], isa, INVENTED)
    real = [0x7F3A_0000_0000 + 256 * step for step in (0, 1, 77, 1022, 0x123457, 0x20_0000_0001)] + [0x5000_0003_0000]
    counted = [[facts(site) for site in audit(folder, name, NUMBERS[name], isa, launch(at))[1]] for at in real]
    for at, site in enumerate(sites):
        figures = {one[at] for one in counted}
        if site.status == "exact":
            assert figures == {facts(site)}, (site.text, figures)
    assert name == "lanes that end" or any(site.status != "exact" for site in sites)


# Sites whose accesses follow a comparison of pointers that machine code makes half by half.
NOT_PROVED = {("end of a range", "sass")}


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("name", PLACES)
def test_result_independent_of_the_buffer_address_is_exact(folder, name, isa):
    _, sites = audit(folder, name, PLACES[name], isa, INVENTED)
    _, real = audit(folder, name, PLACES[name], isa, launch(0x7F3A_0000_1100))
    assert any(site.wavefronts for site in real)
    if (name, isa) in NOT_PROVED:
        return
    assert {site.status for site in sites} <= {"exact", "unreached"}
    assert [facts(site) for site in sites] == [facts(site) for site in real]


OF_MODULE = """
struct Range { const int* first; long long count; };
__constant__ Range range;
__device__ int table[512];
extern "C" __global__ void k(int n, int* out) {
    __shared__ int s[8192];
    int t = threadIdx.x;
    BODY
    __syncthreads();
    out[t] = s[t];
}
"""
BODIES = {  # -> whether it has a figure
    "a pointer in constant memory": ("s[range.first[t]] = t; s[range.first[t] * 4 + t * 32 & 8191] = n;", True),
    "a variable": ("s[table[t]] = t; s[table[n - 1 - t] * 8] = t;", True),
    "both": ("s[(n & 1 ? range.first : table)[t] * (int)range.count & 8191] = t;", True),
    "number of a pointer in constant memory": ("s[t * (((size_t)range.first >> 8) % 13 + 1)] = t;", False),
    "number of a variable": ("s[t * ((unsigned)((size_t)table >> 8) % 13 + 1)] = t;", False),
}


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("name", BODIES)
def test_pointers_in_constant_memory_and_to_variables(folder, name, isa):
    body, exact = BODIES[name]
    path = folder / f"{name.replace(' ', '_')}.cu"
    path.write_text(OF_MODULE.replace("BODY", body))
    symbols = {"range": (INDEX, 3), "table": INDEX[::-1].copy()}
    used = {key: value for key, value in symbols.items() if key in body}
    report = ptxaudit.audit(
        str(path),
        isa=isa,
        launches=[Launch("k", grid=1, block=128, params=[WORDS, np.zeros(WORDS, "i4")], symbols=used)],
    )
    sites = [site for site in report.sites if site.opcode.startswith(STORES)]
    assert {site.status == "exact" for site in sites} == {exact}, [str(site.why) for site in sites]


DRAWN = """
extern "C" __global__ void k(unsigned* counter, const unsigned* p, unsigned n, unsigned* out) {
    __shared__ unsigned s[4096], tile;
    unsigned t = threadIdx.x;
    if (t == 0 && n > 3) tile = atomicAdd(counter, 1u);  // the register of the result holds half of a pointer before
    __syncthreads();
    s[t * (tile % 5 + 1)] = t;
    __syncthreads();
    unsigned one = 0, other = 0;
    if (p[t] < n) { one = s[p[t] & 4095]; other = s[p[t + 1] & 4095]; }
    if (one > other && p[t] < n) s[one & 1023] = t;
    out[t] = s[t];
}
"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_registers_with_half_of_a_pointer_in_other_lanes_are_exact(folder, isa):
    path = folder / "drawn.cu"
    path.write_text(DRAWN)
    data = np.arange(256, dtype=np.uint32) * 7 % 200
    report = ptxaudit.audit(
        str(path), isa=isa, launches=[Launch("k", grid=9, block=64, params=[np.full(1, 20, "u4"), data, 100, None])]
    )
    drawn = [site for site in report.sites if site.source.line == 7]
    assert drawn and {site.status for site in drawn} == {"exact"}


NUMBERS_OF_CODE = {
    "loaded": "s[((const int*)number)[t]] = p[t];",
    "drawn": "if (t == 0) tile = atomicAdd((unsigned*)number, 1u); __syncthreads(); s[t * (tile % 5 + 1)] = n;",
}


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("name", NUMBERS_OF_CODE)
def test_number_equal_to_an_assigned_address_is_no_pointer(folder, name, isa):
    """The launch specifies a number, which may be any address, and ptxaudit has assigned this one to p by chance."""
    head = HEAD.replace("const int* q", "size_t number").replace("int t =", "__shared__ unsigned tile; int t =")
    path = folder / f"number_{name}.cu"
    path.write_text(head + NUMBERS_OF_CODE[name] + TAIL)
    params = [INDEX, buffers.FIRST_ADDRESS, WORDS, np.zeros(WORDS, "i4")]
    report = ptxaudit.audit(str(path), isa=isa, launches=[Launch("k", grid=5, block=64, params=params)])
    decided = [site for site in report.sites if site.opcode.startswith(STORES)][-1]
    assert decided.status != "exact"
