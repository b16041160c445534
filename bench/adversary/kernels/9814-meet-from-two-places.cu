// launch 1 32 n=3
// launch 1 64 n=4
// Lanes meet at two different __syncwarp, ballots or shuffles of one mask from both sides of a branch, in loops too.
extern "C" __global__ void k9814(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, T = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned i = t; i < 1024; i += T) s[i] = i * 7 & 1023;
    __syncthreads();
    __shared__ unsigned box[64];
    box[t] = l;
    __syncwarp();
    if (l < 16) { box[t] = l * 2; __syncwarp(); acc += s[(box[t + 16] * 2) & 1023]; __syncwarp(); box[t] = 1; }
    else { unsigned v = box[t - 16]; acc += s[(l * 3) & 1023]; box[t] = (v & 0) + 31 - l; __syncwarp(); acc += s[(box[t - 16] * 4) & 1023]; __syncwarp(); }
    __syncwarp();
    acc += s[(box[w * 32 + 31 - l] * 8) & 1023];
    for (unsigned k = 0; k < n; k++) {
        unsigned m;
        if ((l + k) & 1) { m = __ballot_sync(0xffffffff, l > k * 3); box[t] = __popc(m); __syncwarp(); acc += s[(box[t ^ 1] * l) & 1023]; __syncwarp(); }
        else { m = __ballot_sync(0xffffffff, l < k); __syncwarp(); acc += s[(box[t ^ 1] * 16) & 1023]; __syncwarp(); box[t] = k; }
        __syncwarp();
    }
    acc += s[(box[t ^ 1] * 32) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc + l + w;
}
