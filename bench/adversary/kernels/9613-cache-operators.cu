// launch 1 64 n=0
// launch 1 23 n=3
// launch 2 40 n=8
// ld.ca, cg, cs, lu, cv, nc; st.wb, cg, cs, wt; of different widths and strides, misaligned to sectors by n words.
extern "C" __global__ void k9613(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t; const unsigned* p = src + n; unsigned acc = 0;
    acc += __ldca(p + g) + __ldcg(p + g * 3) + __ldcs(p + g * 9) + __ldlu(p + (g ^ 6)) + __ldcv(p + g / 2) + __ldg(p + g * 2 + 1);
    acc += __ldcg((const uint4*)src + g * 3).x + __ldcs((const uint2*)src + g).y + __ldcv((const unsigned char*)p + g * 5) + __ldg((const unsigned short*)p + g * 17) + __ldlu((const uint4*)src + (g & 9)).w;
    __stwb(out + n + g, acc); __stcg(out + 1024 + g * 5, acc); __stcs((uint2*)out + 2048 + g * 3, make_uint2(acc, t)); __stwt((uint4*)out + 2048 + (g ^ 3), make_uint4(acc, t, n, 0));
    __stcs((unsigned char*)out + 50000 + g * 7, (unsigned char)acc); __stwt((unsigned short*)out + 30000 + g, (unsigned short)acc);
}
