"""Buffers beside those that a kernel writes: executing its stores shows which bytes keep their specified contents."""

import costs
import numpy as np
import pytest

import ptxaudit

SOURCE = """
extern "C" __global__ void scatter(const int* index, int* out, int n) {
    __shared__ int table[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = 3 * i;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = table[index[i]];
}

// as scatter, through a pointer to the end of the array
extern "C" __global__ void backwards(const int* index, int* end, int n) {
    __shared__ int table[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = 3 * i;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) end[-1 - index[i]] = table[index[i]];
}

// the last store goes to where an index says, which is itself changed before
extern "C" __global__ void chain(int* index, int* out) {
    __shared__ int table[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x) table[i] = 3 * i;
    __syncthreads();
    out[index[t]] = 1;
    __threadfence();
    __syncthreads();
    out[index[t] + 64] = table[index[t + 64]];
}

// a running sum decides where: rows of out, each as long as its count
extern "C" __global__ void rows(const int* counts, int* out, int n) {
    __shared__ int table[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = 3 * i;
    __syncthreads();
    int at = blockIdx.x * 1024;
#pragma unroll 1
    for (int r = 0; r < n; ++r) {
        if (threadIdx.x < counts[r]) out[at + threadIdx.x] = table[(counts[r] * threadIdx.x) & 1023];
        at += counts[r];
    }
}

// in place: each thread writes what it has read
extern "C" __global__ void in_place(int* index) {
    __shared__ int table[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x) table[i] = 3 * i;
    __syncthreads();
    index[t] = table[index[t]];
}

// the second block writes beyond the end of out; then each goes to where a result leads
extern "C" __global__ void beyond(const int* index, int* out, int* log) {
    __shared__ int table[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x) table[i] = 3 * i;
    out[blockIdx.x * 64 + t] = t;
    __syncthreads();
    log[out[t] * 5] = 1;
    __syncthreads();
    out[t] = table[index[t + 100] ^ out[t - 64]];
}
"""
AT = 0x7F0000000200
INDEX = np.random.default_rng(11).integers(0, 1024, 1000, dtype=np.int32)
PLACED = ("one buffer each", "one allocation")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("stores") / "stores.cu"
    path.write_text(SOURCE)
    return str(path)


def placed(how, *arrays):
    """Arrays that touch, from AT on: their addresses, and the memory of the launch."""
    arrays = tuple(a.astype(np.int32) for a in arrays)
    starts = [AT + sum(a.nbytes for a in arrays[:k]) for k in range(len(arrays))]
    if how == "one allocation":
        arrays = (np.concatenate(arrays),)
    begin = AT, *starts[1:]
    return starts, [{"address": at, "values": a.tolist(), "type": "i32"} for at, a in zip(begin, arrays)]


def gathers(path, isa, kernel, block, params, memory, grid=1):
    """The sites that load from the table."""
    launch = ptxaudit.Launch(kernel=kernel, grid=grid, block=block, params=params, memory=memory)
    report = ptxaudit.audit(path, isa=isa, kernels=(kernel,), launches=[launch])
    return [site for site in report.sites if site.access == "load"]


def cost(indices):
    """Wavefronts of loads of the table at these indices."""
    return costs.cost("ld.shared.b32", indices)


@pytest.mark.parametrize("how", PLACED)
@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_scatter_beside_its_indices_is_exact(source, isa, how):
    (index, out), memory = placed(how, INDEX, np.zeros(1024, np.int32))
    (site,) = gathers(source, isa, "scatter", 256, [index, out, 1000], memory, 4)
    assert (site.status, site.wavefronts) == ("exact", cost(INDEX))


@pytest.mark.parametrize("how", PLACED)
@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("reached", (0, 1, 999))
def test_scatter_that_reaches_an_index_is_open(source, isa, how, reached):
    changed = INDEX.copy()
    changed[37] = reached - 1000  # the last element of the indices is out[-1]
    (index, out), memory = placed(how, changed, np.zeros(1024, np.int32))
    (site,) = gathers(source, isa, "scatter", 256, [index, out, 1000], memory, 4)
    assert site.status == "data-dependent"


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_pointer_to_the_end_of_an_array_may_write_it(source, isa):
    (index, after), memory = placed("one buffer each", INDEX, np.zeros(64, np.int32))
    (site,) = gathers(source, isa, "backwards", 256, [index, after, 1000], memory, 4)
    assert site.status == "data-dependent"
    (_, index, after), memory = placed("one buffer each", np.zeros(1024, np.int32), INDEX, np.zeros(64, np.int32))
    (site,) = gathers(source, isa, "backwards", 256, [index, index, 1000], memory, 4)
    assert (site.status, site.wavefronts) == ("exact", cost(INDEX))


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("to, exact", ((64, True), (-64, False), (-130, False)))
def test_index_that_was_overwritten_decides_nothing(source, isa, to, exact):
    """out[index] may be an index that is loaded afterwards."""
    values = np.concatenate([np.full(64, to), np.arange(64) * 5 % 64]).astype(np.int32)
    (index, out), memory = placed("one allocation", values, np.zeros(1024, np.int32))
    (site,) = gathers(source, isa, "chain", 64, [index, out], memory)
    assert site.status == ("exact" if exact else "data-dependent")
    if exact:
        assert site.wavefronts == cost(values[64:])


@pytest.mark.parametrize("how", PLACED)
@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_rows_of_data_dependent_length_are_exact(source, isa, how):
    counts = np.array([7, 32, 1, 64, 33], np.int32)
    (_, lengths, out), memory = placed(how, np.zeros(5, np.int32), counts, np.zeros(4 * 1024, np.int32))
    (site,) = gathers(source, isa, "rows", 64, [lengths, out, 5], memory, 4)
    lanes = [np.arange(w, min(w + 32, n)) * n & 1023 for n in counts.tolist() for w in range(0, n, 32)]
    assert (site.status, site.wavefronts) == ("exact", 4 * sum(cost(one) for one in lanes))


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_what_a_kernel_reads_and_writes_is_open(source, isa):
    (index,), memory = placed("one allocation", INDEX)
    (site,) = gathers(source, isa, "in_place", 64, [index], memory)
    assert site.status == "data-dependent"


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("blocks", (1, 2))
def test_stores_stay_within_a_buffer_unless_one_is_seen_to_leave_it(source, isa, blocks):
    arrays = np.arange(128) % 7, INDEX, np.zeros(1), np.zeros(512)
    (out, index, _, log), memory = placed("one buffer each", *arrays)
    (site,) = gathers(source, isa, "beyond", 64, [index, out + 256, log], memory, blocks)
    if blocks == 1:
        assert (site.status, site.wavefronts) == ("exact", cost(INDEX[100:164] ^ np.arange(64) % 7))
    else:
        assert site.status == "data-dependent"
