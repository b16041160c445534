// launch 4 64 n=3 cluster=2
// launch 4x2 24x4 n=6 cluster=2x2
// launch 8 160 n=11 cluster=8
// launch 3 100 n=5
// Distributed shared memory: chains through peers by map_shared_rank (one's own block among them), remote histograms, and
// letters by st.async, red.async and a bulk copy to the next block of the cluster, whose words are then local addresses.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/span>
namespace cg = cooperative_groups;

struct Pixel { unsigned char r, g, b, a; short x[2]; unsigned next; };            // 12 bytes
struct alignas(16) Node { unsigned key; unsigned short next, hops; double weight; };

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ unsigned peer_address(const void* p, unsigned rank) {
    unsigned r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(shared_address(p)), "r"(rank));
    return r;
}

__device__ void wait_for(unsigned long long* bar, unsigned phase) {
    unsigned done = 0;
    while (!done)
        asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(shared_address(bar)), "r"(phase) : "memory");
}

__device__ void expect(unsigned long long* bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(bar)), "r"(bytes) : "memory");
}

extern "C" __global__ void k9898(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ Node nodes[256];
    __shared__ Pixel pixels[256];
    __shared__ __align__(128) unsigned table[1024], parcel[128];
    __shared__ __align__(16) unsigned inbox[2][192], pairs[192][2], tally[64];
    __shared__ unsigned bins[48];
    __shared__ cuda::std::complex<float> phases[192];
    __shared__ signed char steps[256];
    __shared__ __align__(8) unsigned long long post, freight;
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    const unsigned t = block.thread_rank(), T = block.num_threads(), C = cluster.num_blocks(), me = cluster.block_rank();
    const unsigned next = (me + 1) % C, before = (me + C - 1) % C, row = cluster.block_index().y;
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += T) table[i] = (i * 7 + me * 3) & 1023;
    for (unsigned i = t; i < 256; i += T) {
        nodes[i] = {i * 5 + me, (unsigned short)((i * 3 + me * 8 + n) & 255), (unsigned short)(i & 7), i * 0.5};
        pixels[i] = {(unsigned char)i, (unsigned char)(i >> 2), (unsigned char)(me * 16), 1, {short(-int(i)), short(n)}, (i * 9 + row) & 255};
        steps[i] = (signed char)(i * 13 % 61);
    }
    for (unsigned i = t; i < 192; i += T) { inbox[0][i] = inbox[1][i] = i; phases[i] = {float(i & 15), float(me)}; }
    if (t < 48) bins[t] = 0;
    if (t < 64) tally[t] = t;
    if (t < 128) parcel[t] = 0;
    if (t == 0) {
        for (auto* bar : {&post, &freight})
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(bar)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;\n fence.proxy.async;" ::: "memory");
    }
    cluster.sync();

    // a chain through the cluster; every C-th hop is at home, through the same instruction
    unsigned at = t;
    for (unsigned k = 0; k < n; k++) {
        const unsigned rank = (me + k) % C;
        const Node* far = cluster.map_shared_rank(nodes, rank);
        at = (far[at & 255].next + k) & 255;
        acc += table[(at * 4) & 1023] + nodes[(at + far[at].hops) & 255].key;
        if (rank == me) acc += steps[at] + (unsigned)nodes[at].weight;
    }
    const Pixel* theirs = cluster.map_shared_rank(pixels, before);
    const Pixel seen = theirs[(t * 3 + me) & 255];
    acc += table[(seen.next * 8 + seen.r) & 1023] + pixels[seen.next].x[0] + pixels[seen.b].g;

    // one histogram over the cluster, its bins spread over the blocks, with words of src and with computed ones
    for (unsigned k = 0; k < 3; k++) {
        const unsigned key = k == 0 ? src[(block.group_index().x * T + t) & 4095] & 31 : (t * k + me) % 48;
        atomicAdd(cluster.map_shared_rank(&bins[key], key % C), k ? 1u : 1024u);
    }
    cluster.sync();
    const unsigned computed = bins[t % 48] & 1023;
    acc += table[(computed * 16 + t) & 1023] + table[(bins[(t + me) % 48] >> 10) & 1023];

    // letters: in each trip T words, T pairs and T additions go to the next block, whose barrier counts the bytes
    const unsigned far_post = peer_address(&post, next);
    for (unsigned k = 0; k < 1 + n % 3; k++) {
        if (t == 0) expect(&post, T * 16);
        const unsigned slot = T - 1 - t, word = (t * 5 + me * 8 + k) & 1023;
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                     :: "r"(peer_address(&inbox[k & 1][slot], next)), "r"(word), "r"(far_post) : "memory");
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
                     :: "r"(peer_address(pairs[t ^ (T % 2 ? 0 : 1)], next)), "r"(t * 3 + k), "r"(word ^ 31), "r"(far_post) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                     :: "r"(peer_address(&tally[(t * 2 + k) & 63], next)), "r"(1u + me), "r"(far_post) : "memory");
        wait_for(&post, k & 1);
        acc += table[inbox[k & 1][t] & 1023] + table[(pairs[t][0] * 4 + pairs[t][1]) & 1023] + table[(tally[t & 63] * 32) & 1023];
        acc += table[inbox[~k & 1][t] * 2 & 1023];             // the letters of the trip before, or the first contents
        cluster.sync();
    }

    // a parcel: a piece of the table, of a length from n and a place from the rank, lands amid zeros of the next block
    const unsigned bytes = 16 * (4 + n % 9), lands = 4 * (next & 3);
    if (t == 0) {
        asm volatile("fence.proxy.async;" ::: "memory");
        expect(&freight, 16 * (4 + n % 9));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(peer_address(parcel + lands, next)), "r"(shared_address(table + 64 * me)), "r"(bytes),
                        "r"(peer_address(&freight, next)) : "memory");
    }
    wait_for(&freight, 0);
    const unsigned got = parcel[(t * 3) & 127];
    acc += table[got] + table[(parcel[t & 127] * (t & 31)) & 1023] + pixels[(got + t) & 255].a;

    // values of numbers that are fetched from afar, once through the generic and once through the cluster window
    cuda::std::complex<float> turn = phases[t % 192] * cluster.map_shared_rank(phases, next)[(t * 2) % 192];
    double weight;
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(weight) : "r"(peer_address(&nodes[(t * 8) & 255].weight, before)) : "memory");
    cuda::std::array<unsigned, 2> ends = {(unsigned)(turn.real() + 64.f), (unsigned)weight};
    acc += table[(ends[t & 1] * 2) & 1023] + table[(unsigned)turn.imag() & 1023] + table[ends[0] & ends[1] & 1023];
    cluster.sync();                                            // nobody leaves while others read
    const unsigned id = (blockIdx.y * gridDim.x + blockIdx.x) * T + t;
    out[id] = acc + cg::reduce(cg::tiled_partition<4>(block), t * 3 + me, cg::plus<unsigned>());
}
