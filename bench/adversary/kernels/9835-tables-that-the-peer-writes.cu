// launch 4 64 n=3 cluster=2
// launch 2 96 n=5 cluster=2
// launch 6 5x7x3 n=2 cluster=2
// launch 2x2 40 n=4 cluster=2
// Tables written by the other block of the cluster (st.shared::cluster, st.async, atomics with results, a generic
// mapa pointer) with values of its block index; they are addresses in the block's own memory afterwards.
#define CLUSTER_BARRIER() asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory")
extern "C" __global__ void k9835(unsigned* out, const unsigned* src, unsigned n, float f) {
  __shared__ __align__(16) unsigned s[1024];
  __shared__ __align__(16) unsigned tab[256];
  __shared__ __align__(16) unsigned mail[2][256];
  __shared__ unsigned long long bar[2];
  unsigned nt = blockDim.x * blockDim.y * blockDim.z;
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), acc = 0, rank, x, y, z, v;
  unsigned bid = blockIdx.x + gridDim.x * blockIdx.y;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (unsigned i = t; i < 1024; i += nt) s[i] = i * (2 * bid + 3);
  for (unsigned i = t; i < 256; i += nt) { tab[i] = 7 - i; mail[0][i] = i * 2; mail[1][i] = ~i; }
  unsigned here_s = (unsigned)__cvta_generic_to_shared(s), here_t = (unsigned)__cvta_generic_to_shared(tab);
  unsigned here_m = (unsigned)__cvta_generic_to_shared(mail), here_b = (unsigned)__cvta_generic_to_shared(bar);
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(here_b) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(here_b + 8), "r"(nt) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  unsigned far_s, far_t, far_m, far_b;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_s) : "r"(here_s), "r"(rank ^ 1));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_t) : "r"(here_t), "r"(1 - rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_m) : "r"(here_m), "r"((rank + 1) & 1));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_b) : "r"(here_b), "r"(rank ? 0u : 1u));
  __syncthreads();
  CLUSTER_BARRIER();
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(v) : "r"(far_s + ((t * 48) & 4080)) : "memory");
  acc += s[(y - x) * t & 1023] + s[(z * 2 + v) & 1023];
  asm volatile("st.shared::cluster.u32 [%0], %1;"
               :: "r"(far_t + ((t * 5 + rank * 7) & 255) * 4), "r"(t * (bid + 1)) : "memory");
  if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(here_b), "r"(nt * 4) : "memory");
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
               :: "r"(far_m + ((t * 3) & 255) * 4), "r"(t * 4 + bid), "r"(far_b) : "memory");
  CLUSTER_BARRIER();
  x = tab[(t * 2) & 255];
  acc += s[(x * 2) & 1023];
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra L; }"
               :: "r"(here_b) : "memory");
  y = mail[0][(t * 8 + 1) & 255];
  acc += s[(y * 4) & 1023];
  CLUSTER_BARRIER();
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(z) : "r"(far_m + 1024 + ((t * 7) & 255) * 4), "r"(bid * t) : "memory");
  acc += s[(z * (rank + 1)) & 1023];
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(far_b + 8) : "memory");
  asm volatile("{ .reg .pred p; M: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra M; }"
               :: "r"(here_b + 8) : "memory");
  acc += s[mail[1][(t * 4) & 255] & 1023];
  unsigned long long g = (unsigned long long)(void*)tab, gm;
  for (unsigned k = 0; k < n; ++k) {
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(gm) : "l"(g), "r"((rank + k) & 1));
    CLUSTER_BARRIER();
    ((volatile unsigned*)gm)[(t + k * 64) & 255] = (x << 1) + bid + k;
    CLUSTER_BARRIER();
    x = ((volatile unsigned*)tab)[(255 - t) & 255];
    acc += s[(x + t * k) & 1023];
  }
  CLUSTER_BARRIER();
  out[(bid * nt + t) & 1023] = acc;
}
