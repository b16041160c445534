// launch 1 32 n=3
// launch 1 51 n=29
// launch 2 64 n=7
// Local arrays with dynamic indices: sorted by insertion in each lane, with bytes and words of one array mixed; their contents are addresses.
struct Own { unsigned short key[10]; unsigned char at[10]; };
extern "C" __global__ void k9313(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    Own own; unsigned hist[8] = {};
    for (unsigned i = 0; i < 10; i++) {
        unsigned v = (t * 37 + i * (n | 1) * 101) & 255;
        unsigned j = i;
        for (; j > 0 && own.key[j - 1] > v; j--) { own.key[j] = own.key[j - 1]; own.at[j] = own.at[j - 1]; }
        own.key[j] = (unsigned short)v; own.at[j] = (unsigned char)i;
        hist[v & 7]++;
    }
    __syncthreads();
    acc += s[own.key[t % 10] * 4 & 1023];
    acc += s[(own.at[0] * 32 + own.at[9]) & 1023];
    for (unsigned i = 0; i < hist[t & 7]; i++) s[(own.key[i] + i * 64) & 1023] = acc;
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; i++) { unsigned h = hist[i]; hist[i] = sum; sum += h; }
    acc += s[(hist[t & 7] * 33 + hist[n & 7]) & 1023];
    unsigned char* bytes = (unsigned char*)hist;
    bytes[(t & 7) * 4 + 1] = (unsigned char)t;
    acc += s[(hist[t & 7] >> 5) & 1023];
    unsigned m = hist[(t + 1) & 7];
    while (m < sum) { m += hist[m & 7] % 3 + 1; acc += s[(m * 16 + t) & 1023]; }
    unsigned wide[2][5];
    for (unsigned i = 0; i < 10; i++) (&wide[0][0])[own.at[i]] = own.key[i];
    acc += s[wide[t & 1][t % 5] & 1023];
    s[(wide[~t & 1][n % 5] * 2 + 1) & 1023] = acc;
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
