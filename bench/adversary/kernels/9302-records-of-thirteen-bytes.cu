// launch 1 32 n=1
// launch 1 61 n=7
// launch 2 64 n=12
// Packed records of 13 bytes: every member is assembled from bytes; members of one record lie in different banks by lane.
#pragma pack(push, 1)
struct Rec { unsigned char tag; unsigned short id; unsigned key; unsigned char rest[2]; float value; };
struct Pair { unsigned char kind; Rec rec[2]; unsigned short sum; };
#pragma pack(pop)
static_assert(sizeof(Rec) == 13 && sizeof(Pair) == 29, "packed");
extern "C" __global__ void k9302(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ __align__(16) Rec r[64];
    __shared__ Pair p[32];
    unsigned t = threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += blockDim.x) s[k] = k * 3;
    r[t].tag = (unsigned char)(t * 11);
    r[t].id = (unsigned short)(t * 1000 + n);
    r[t].key = t * 0x01020408u ^ n;
    r[t].rest[0] = r[t].tag >> 1; r[t].rest[1] = 9;
    r[t].value = (float)t * f + 0.25f;
    __syncthreads();
    unsigned q = (t * 7 + n) % blockDim.x;
    Rec mine = r[q];
    acc += s[(mine.key >> 8 ^ mine.id) & 1023];
    acc += s[(unsigned)(mine.value * 8.0f) & 1023];
    if (mine.tag & 4) { r[t].rest[1] = mine.rest[0]; acc += s[mine.rest[0] * 4 & 1023]; }
    __syncthreads();
    acc += s[(r[q].rest[1] << 4 | (q & 3)) & 1023];
    if (t < 32) {
        p[t].kind = (unsigned char)(t % 5);
        p[t].rec[t & 1] = mine;
        p[t].rec[~t & 1] = r[t];
        p[t].sum = (unsigned short)(p[t].rec[0].id - p[t].rec[1].id);
        __syncwarp(__activemask());
        const Pair& other = p[t ^ (blockDim.x > 8 ? 3 : 0)];
        acc += s[(other.sum + other.kind * 32) & 1023];
        switch (other.kind) {
        case 0: acc += s[(other.rec[0].key & 63) * 16]; break;
        case 3: s[(other.rec[1].tag * 2) & 1023] = acc; break;
        default: acc += s[((const unsigned char*)&other)[15 + t % 6] * 4 & 1023];
        }
    }
    out[(blockIdx.x * blockDim.x + t) & 2047] = acc;
}
