"""A cuda.core program, recorded while a profiler counts (bench/recorded/measure.py).

python core_program.py        on a GPU, with cuda.core
"""

try:
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
except ImportError:
    from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""
template <int Pitch> __global__ void columns(float* data, int steps) {
    __shared__ float tile[32 * Pitch];
    float sum = 0;
    for (int step = 0; step < steps; ++step) {
        tile[threadIdx.x * Pitch + step] = data[blockIdx.x * 32 + threadIdx.x];
        __syncthreads();
        sum += tile[step * Pitch + (threadIdx.x ^ 1)];
        __syncthreads();
    }
    data[blockIdx.x * 32 + threadIdx.x] = sum;
}
"""


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", lineinfo=True)
    names = ["columns<32>", "columns<33>", "columns<36>"]
    code = Program(SOURCE, code_type="c++", options=options).compile("cubin", name_expressions=names)
    data = device.allocate(4 * 32 * 8, stream=stream)
    for name in names:
        for blocks, steps in ((4, 8), (8, 5)):
            launch(stream, LaunchConfig(grid=blocks, block=32), code.get_kernel(name), data, steps)
    stream.sync()


if __name__ == "__main__":
    main()
