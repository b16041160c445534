// launch 1 64 n=9
// launch 2 48 n=4
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9502(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, i = 0, a = t;
    FILL(s, 1024, i ^ 5);
    if (t & 1) goto second;
    if (t % 3 == 0) goto third;
first:
    a += s[(a + t * 2) & 1023];
    i++;
second:
    a ^= s[(t + i * 32) & 1023];
    if (i < (t & 3)) goto first;
third:
    a += s[(t * 5 + i) & 1023];
    if (++i > n) goto end;
    if (src[(t + i) & 63] & 4) goto second;
    goto first;
end:
    s[t] = a;
    out[t] = s[(t * 2) & 63] + a;
}
