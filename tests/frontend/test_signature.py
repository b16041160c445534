"""The names of a kernel's parameters, from its source."""

import pytest

from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.signature import parameter_names
from ptxaudit.pipeline.kernels import by_position


@pytest.mark.parametrize(
    "source, kernel, names",
    [
        ("__global__ void k(const float *a, float *__restrict__ c, int n = 8) {", "_Z1kPKfPfi", ["a", "c", "n"]),
        ('extern "C" __global__ void __launch_bounds__(256, 2) k(float a[], unsigned long long n);', "k", ["a", "n"]),
        (
            "template <class T, int N> __global__ void fill(T *a, std::pair<int, T> p) {}",
            "_Z4fillIfLi8EEvPT_St4pairIiS0_E",
            ["a", "p"],
        ),
        ("namespace ns { __global__ void k(void (*f)(int, int), float x) {} }", "_ZN2ns1kEPFviiEf", ["f", "x"]),
        ("// __global__ void k(int wrong)\n__global__ void k(int /* the */ right)", "_Z1ki", ["right"]),
        ("__global__ void k(int a); __global__ void k(int a, int b)", "_Z1kii", ["a", "b"]),
        ("__global__ void k(int n, int m); namespace ns { __global__ void k(int m, int n) {} }", "_ZN2ns1kEii", []),
        ("__global__ void k(int n, int m); __global__ void k(int n, int m) {}", "_Z1kii", ["n", "m"]),
        ("__global__ void k(int)", "_Z1ki", []),
        ("__global__ void k()", "_Z1kv", []),
        ("#define KERNEL(n) __global__ void n(int a)\nKERNEL(k) {}", "_Z1ki", []),
        ("__global__ void k(int a", "_Z1ki", []),
    ],
)
def test_parameter_names_from_the_source(source, kernel, names):
    from ptxaudit.base.demangle import split_name

    count = len(names) or len(split_name(kernel)[1])
    assert parameter_names(source, kernel, count) == names


def test_launch_parameters_by_source_names():
    launch = Launch("k", named={"n": 5, "0": 1, "other": 2})
    assert by_position(launch, {"a": 0, "n": 1}).named == {"1": 5, "0": 1, "other": 2}
