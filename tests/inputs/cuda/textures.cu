// Textures and surfaces by handle, half-precision vectors of them, cache hints, read-only loads.
extern "C" __global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4* out, const float4* __restrict__ in) {
    int x = threadIdx.x, y = threadIdx.y;
    float4 a = tex2D<float4>(t, x + 0.5f, y), b = tex3D<float4>(t, x, y, 1.f), c = tex1Dfetch<float4>(t, x);
    float4 d = tex2DLod<float4>(t, x, y, 2.f), e = tex2DLayered<float4>(t, x, y, 3), f = tex2Dgather<float4>(t, x, y, 1);
    surf2Dwrite(make_int2(x, y), s, x * 8, y);
    int2 g = surf2Dread<int2>(s, y * 8, x);
    float4 h = __ldg(in + x), i = __ldcs(in + y), j = __ldca(in + x + 32), k = __ldcv(in + 3);
    __stcs(out + 64 + x, h), __stwt(out + 96 + x, i);
    out[x] = make_float4(a.x + b.y + c.z, d.w + e.x + f.y, g.x + h.x + i.y, j.z + k.w);
}
