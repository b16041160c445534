// launch 1 64 n=3
// launch 1 26 n=17
// launch 2 32 n=8
// memcpy and memset of structs of 3 to 52 bytes and of a length from a parameter, between global and local memory.
struct S3 { unsigned char b[3]; }; struct S12 { float x, y, z; }; struct S20 { unsigned k[5]; }; struct __align__(8) S24 { unsigned k[6]; }; struct S52 { unsigned k[13]; }; struct __align__(16) S64 { unsigned k[16]; };
extern "C" __global__ void k9631(unsigned* out, const unsigned* src, unsigned n, float f) {
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t; char* o = (char*)out;
    ((S3*)o)[g] = ((const S3*)src)[g + n]; ((S12*)(o + 1024))[g] = ((const S12*)src)[g ^ 1]; ((S20*)(o + 4096))[g] = ((const S20*)src)[g * 2];
    ((S24*)(o + 8192))[g] = ((const S24*)src)[63 - t]; ((S52*)(o + 12288))[g] = ((const S52*)src)[g]; ((S64*)(o + 20480))[g] = ((const S64*)src)[g & 31];
    memset(o + 32768 + g * 24, 0, 24); memset(o + 36864 + g * 10, 1, 10); memset(o + 40960 + g * 16, (int)t, n & 15); memcpy(o + 45056 + g * 40, (const char*)src + g * 36, 36);
    memcpy(o + 51200 + g * 20, (const char*)src + g * 20 + (n & 3), n < 16 ? n : 16);
    S52 own[3]; for (unsigned i = 0; i < 3; i++) memcpy(&own[(i + n) % 3], src + g + i * 13, 52); memset(&own[t % 3], 0, 8);
    S20 mid; memcpy(&mid, &own[(t + n) % 3].k[3], 20); out[14336 + g] = own[n % 3].k[t % 13] + mid.k[2] + own[t % 3].k[1];
}
