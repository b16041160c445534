// launch 1 32 n=9
// launch 1 64 n=14
// launch 1 50 n=5
// A loop that a switch enters at eight places, by lane, and a second one that a goto enters in the middle.
extern "C" __global__ void k9026(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k;
    __syncthreads();
    unsigned count = (t & 15) + 1, rounds = (count + 7) / 8, i = t;
    switch (count % 8) {
    case 0: do { acc += s[(i * 2) & 1023]; i += 3;
    case 7:      s[(i * 4) & 1023] = acc; i++;
    case 6:      acc += s[(i * 3) & 1023]; i++;
                 if (acc == 0xFFFFFFFFu) break;
    case 5:      s[(i * 5) & 1023] = i; i += 2;
    case 4:      acc ^= s[(i * 8) & 1023]; i++;
    case 3:      if (i & 1) continue;
    case 2:      s[(i * 6) & 1023] = 2; i++;
    case 1:      acc += s[i & 1023];
            } while (--rounds > 0);
    }
    s[(t * 7) & 1023] = acc;
    unsigned x = n;
    if (t & 2) goto middle;
    while (x > 2) {
        x -= 2;
        acc += s[(x * 32 + t) & 1023];
middle: x--;
        s[(x * 16 + t * 2) & 1023] = x;
        if ((x + t) % 7 == 0) continue;
        if ((x ^ t) % 9 == 1) break;
        acc += s[(x + t * 4) & 1023];
    }
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
