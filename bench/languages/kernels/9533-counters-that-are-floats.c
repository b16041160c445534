// launch 1 64 n=900
// launch 1 32 n=2000
#include "prelude.h"
static SHARED u32 s[1024];
KERNEL void k9533(u32 *out, const u32 *src, u32 n, float f) {
    u32 t = TID, a = 0, steps = 0;
    FILL(s, 1024, i);
    float x = (float)t * 0.1f;
    double d = 0.1 * t;
    _Float16 h = (_Float16)(float)t;
    for (u32 i = 0; i < n; i++) {
        a += s[(u32)x & 1023] + s[(u32)d & 1023] + s[(u32)h & 1023];
        x += 0.3f;
        d += 0.7;
        h += (_Float16)1.0f;
    }
    for (float g = 0; g < (float)n * 0.1f; g += 0.1f) { a += s[(steps * 32 + t) & 1023]; steps++; }
    for (float g = 16777200.0f; g < 16777300.0f && steps < n + 900; g += 1.0f) { a += s[(u32)g & 1023]; steps++; }
    out[t] = a + s[steps & 1023];
}
