"""Buffers that the launch specifies: sites that depend on their content become exact if nothing can change it."""

import numpy as np
import pytest
from costs import cost

import ptxaudit

SOURCE = """
extern "C" __global__ void histogram(const unsigned char* __restrict__ data, unsigned* __restrict__ out, int n) {
    __shared__ unsigned bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 2u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

extern "C" __global__ void gather(const int* index, float* out, int n) {
    __shared__ float table[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = i;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
}

struct Csr { const int* row; const int* column; };
extern "C" __global__ void rows(Csr a, float* out, int n) {
    __shared__ float x[512];
    x[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
    for (int k = a.row[threadIdx.x]; k < a.row[threadIdx.x + 1]; ++k) sum += x[a.column[k]];
    out[threadIdx.x] = sum;
}
"""
RANDOM = np.random.default_rng(7)
INDEX = RANDOM.integers(0, 1024, 1000, dtype=np.int32)
OUT = np.zeros(1024, np.float32)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    path = tmp_path_factory.mktemp("given") / "given.cu"
    path.write_text(SOURCE)
    return str(path)


def loads(path, isa, **launch):
    report = ptxaudit.audit(path, isa=isa, kernels=(launch["kernel"],), launches=[ptxaudit.Launch(**launch)])
    return [site for site in report.sites if site.access in ("load", "atomic")]


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_gather_through_specified_indices_is_exact(kernel, isa):
    (site,) = loads(kernel, isa, kernel="gather", grid=4, block=256, params=[INDEX, OUT, 1000])
    warps = [INDEX[k : k + 32] for k in range(0, 1000, 32)]
    assert (site.status, site.requests) == ("exact", len(warps))
    assert site.wavefronts == cost("ld.shared.f32", INDEX)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_histogram_of_specified_data_is_exact(kernel, isa):
    data = RANDOM.integers(0, 256, 2048, dtype=np.uint8)
    atomic, load = loads(kernel, isa, kernel="histogram", grid=2, block=128, params=[data, None, 2048])
    assert (atomic.status, atomic.requests) == ("exact", 2048 // 32)
    assert atomic.wavefronts == cost("atom.shared.add.u32", data)
    assert load.status == "exact"


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_sparse_matrix_rows_of_specified_data_are_exact(kernel, isa):
    """Trip counts and addresses both come from data, through pointers inside a structure."""
    lengths = RANDOM.integers(0, 6, 64)
    row = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    column = RANDOM.integers(0, 512, row[-1], dtype=np.int32)
    sites = loads(kernel, isa, kernel="rows", grid=1, block=64, params=[[row, column], OUT, 64])
    warps = range(0, 64, 32)
    trips = [lengths[w : w + 32].max() for w in warps]
    if isa == "ptx" and len(sites) == 1:
        assert sites[0].status == "exact" and sites[0].active_requests == sum(trips)
    assert all(site.status in ("exact", "unreached") for site in sites)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_buffer_that_an_unspecified_pointer_may_overwrite_is_unknown(kernel, isa):
    """`out` is not specified: it may point into `index`, which is not declared read-only."""
    (site,) = loads(kernel, isa, kernel="gather", grid=4, block=256, params=[INDEX, None, 1000])
    assert site.status == "data-dependent" and "may overwrite" in site.reason


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_buffer_that_is_input_and_output_is_unknown(kernel, isa):
    (site,) = loads(kernel, isa, kernel="gather", grid=1, block=32, params=[0x7000_0000_0000, 0x7000_0000_0000, 32])
    assert site.status == "data-dependent"


def test_lanes_outside_the_buffer_are_unknown(kernel):
    (site,) = loads(kernel, "ptx", kernel="gather", grid=4, block=256, params=[INDEX[:500], OUT, 1000])
    assert site.status == "data-dependent" and "outside the specified buffers" in site.reason


NEIGHBOURS = """
extern "C" __global__ void above(const int* index, float* out) {
    __shared__ float table[64];
    table[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = table[index[blockIdx.x * blockDim.x + threadIdx.x]];
}

extern "C" __global__ void below(const int* index, int* end) {
    __shared__ float table[64];
    table[threadIdx.x] = 1;
    __syncthreads();
    float x = table[index[threadIdx.x]];
    end[-1 - (int)threadIdx.x] = x;
}
"""
PLACE = 0x7F95_EBE4_4000  # its lower word does not fit 31 bits


def neighbours(tmp_path, kernel, isa, at):
    """The gather of a kernel whose second parameter points to `at`, where another buffer begins. The first buffer
    starts at PLACE and has one index per thread.
    """
    source = tmp_path / "neighbours.cu"
    source.write_text(NEIGHBOURS)
    index = (np.arange(128) * 3 % 64).astype(np.int32)
    memory = [
        {"address": PLACE, "values": index.tolist(), "type": "i32"},
        {"address": PLACE + index.nbytes, "zeros": 64, "type": "f32"},
    ]
    launch = ptxaudit.Launch(kernel=kernel, grid=2, block=64, params=[PLACE, at], memory=memory)
    report = ptxaudit.audit(source, isa=isa, kernels=(kernel,), launches=[launch])
    return next(site for site in report.sites if site.access == "load")


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_store_directly_after_a_buffer_keeps_it(tmp_path, isa):
    """The pointer is the end of one buffer and the start of another: its range decides into which of them it writes."""
    site = neighbours(tmp_path, "above", isa, PLACE + 512)
    assert (site.status, site.requests, site.wavefronts) == ("exact", 4, 4)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("kernel, at", [("below", PLACE + 508), ("above", PLACE + 508), ("above", PLACE - 508)])
def test_store_into_a_buffer_invalidates_it(tmp_path, isa, kernel, at):
    site = neighbours(tmp_path, kernel, isa, at)
    assert site.status == "data-dependent" and "may overwrite" in site.reason


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_store_before_a_buffer_keeps_it(tmp_path, isa):
    assert neighbours(tmp_path, "above", isa, PLACE - 512).status == "exact"


OPTIONAL = """
extern "C" __global__ void k(const int* index, unsigned* counter, int* copy) {
    __shared__ volatile int s[4096], tile;
    if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
    __syncthreads();
    int x = index[tile * 64 + threadIdx.x];
    if (copy) copy[threadIdx.x * 2] = x;
    s[x] = 1;
}
"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("copy, exact", [(0, True), (PLACE, True), (None, False)])
def test_null_pointer_leads_to_no_buffer(tmp_path, isa, copy, exact):
    """Neither to one that is read nor to a counter, wherever they lie: no device memory has so low an address."""
    source = tmp_path / "optional.cu"
    source.write_text(OPTIONAL)
    index = (np.arange(256) * 2).astype(np.int32)
    launch = ptxaudit.Launch("k", grid=4, block=64, params=[index, np.zeros(1, np.uint32), copy])
    found = ptxaudit.audit(source, isa=isa, launches=[launch]).sites
    (site,) = (site for site in found if site.source.line == 1 + OPTIONAL[: OPTIONAL.index("s[x]")].count("\n"))
    assert (site.status == "exact") == exact and site.wavefronts == (16 if exact else None)


def test_discarded_buffer_contents_are_unknown(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(
        """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{ .reg .b64 %a; .reg .b32 %x, %v; .shared .align 4 .b8 s[4096]; ld.param.u64 %a, [p]; mov.u32 %x, %tid.x;
DISCARD ld.global.u32 %v, [%a]; mad.lo.u32 %v, %v, %x, 0; shl.b32 %v, %v, 2; st.shared.u32 [%v], %x; ret; }
"""
    )
    text = path.read_text()
    launch = ptxaudit.Launch("k", grid=1, block=32, params=[np.ones(32, np.uint32)])
    statuses = []
    for discard in ("", "discard.global.L2 [%a], 128;", "discard.L2 [%a], 128;"):
        path.write_text(text.replace("DISCARD", discard))
        (site,) = ptxaudit.audit(path, isa="ptx", launches=[launch]).sites
        statuses.append(site.status)
    assert statuses == ["exact", "data-dependent", "data-dependent"]
