// launch 1 64 n=3
// launch 1 37 n=16
// launch 2 32 n=33
// add, min, max, inc, dec, and, or, xor, exch, cas of words at different strides; results used and unused; some lanes.
extern "C" __global__ void k9610(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t, acc = 0; int* o = (int*)out;
    acc += atomicAdd(out + g, t) + atomicSub(out + g * 2 + n, 3) + atomicMin(o + 512 + g * 9, -(int)t) + atomicMax(out + 1024 + (g ^ 5), t);
    acc += atomicInc(out + 1200 + g / 3, 99) + atomicDec(out + 1300 + g * 4, 7) + atomicAnd(out + 2000 + t % 7, ~t) + atomicOr(out + 2100 + 64 - t, t);
    acc += atomicXor(out + 2200 + g * 33, g) + atomicExch(out + 8192 + (t & 15) * 16, g) + atomicCAS(out + 8500 + g * 5 % 64, g, acc);
    atomicAdd(out + 9000 + g * 8, acc); atomicAdd(out + 9600, 1); atomicMin(out + 9700 + t / 2, acc); atomicOr(o + 9800 + (t & 3) * 11, 1 << (t & 31));
    if (t & 3) atomicAdd(out + 9900 + g * 3, 1);
    if (t < n) acc += atomicAdd(out + 10200 + g, t);
    atomicAdd((float*)out + 10500 + g * 7 % 100, f); acc += (unsigned)atomicAdd((float*)out + 10700 + t / 5, f);
    atomicAdd_system(out + 11000 + g, 1u); atomicMax_block(o + 11200 + g * 2, (int)t);
    out[12000 + g] = acc;
}
