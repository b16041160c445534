// launch 1 32 n=9
// launch 1 50 n=99999
// launch 2 64 n=1234567890
// Decimal: digits by high products, double dabble by nibble masks, packed sums with correction by sixes, digits written as text and parsed again, palindromes.
__device__ unsigned dabble(unsigned v, unsigned bits) { unsigned r = 0; for (int i = (int)bits - 1; i >= 0; i--) { unsigned five = (r + 0x33333333u) & 0x88888888u; r += (five >> 2) | (five >> 3); r = r << 1 | (v >> i & 1); } return r; }
extern "C" __global__ void k9352(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ unsigned char text[64][12];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    unsigned v = t * n + t * t, length = 0; do { unsigned q = __umulhi(v, 0xCCCCCCCDu) >> 3; text[t][length++] = (unsigned char)('0' + (v - q * 10)); v = q; } while (v && length < 11); text[t][length] = 0;
    __syncthreads();
    const unsigned char* p = text[(t + 1) % T]; unsigned parsed = 0, digits = 0, weight = 1;
    while (*p) { acc += s[((*p - '0') * 32 + digits) & 1023]; parsed += (*p++ - '0') * weight; weight *= 10; digits++; }
    acc += s[parsed & 1023];
    acc += s[(digits * 64 + t) & 1023];
    unsigned bcd = dabble(parsed % 100000, 17);
    acc += s[(bcd ^ bcd >> 10) & 1023];
    unsigned other = dabble(t * 37, 12), sum = bcd + 0x06666666u, x = sum ^ other, total = sum + other; x = ~(total ^ x) & 0x11111110u; x = x >> 2 | x >> 3; total -= x;
    acc += s[total & 1023]; if ((total & 15) > 9) s[t & 1023] = 1; else s[((total & 15) * 64 + (total >> 4 & 15)) & 1023] = acc;
    unsigned back = 0;
    for (int i = 28; i >= 0; i -= 4) back = back * 10 + (bcd >> i & 15);
    if (back == parsed % 100000) acc += s[(back >> 1) & 1023];
    unsigned left = 0, right = digits ? digits - 1 : 0; p = text[(t + 1) % T];
    while (left < right && p[left] == p[right]) { left++; right--; } if (left >= right) acc += s[(t * 16) & 1023]; else s[(left * 33 + p[left]) & 1023] = acc;
    unsigned three = (t * 0x29u >> 3) % 1000, hundred = three * 41 >> 12, tens = (three - hundred * 100) * 103 >> 10;
    acc += s[(hundred * 100 + tens * 8) & 1023];
    unsigned root = parsed;
    while (root > 9) { unsigned d = 0; for (unsigned q = root; q; q /= 10) d += q % 10; root = d; acc += s[(root * 4) & 1023]; }
    out[(blockIdx.x * T + t) & 2047] = acc;
}
