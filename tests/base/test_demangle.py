"""Demangled names, and their parts."""

import pytest

from ptxaudit.base import demangle as module
from ptxaudit.base.demangle import demangle, split_name


@pytest.mark.parametrize(
    "name, plain, head, types",
    [
        ("kernel", "kernel", "kernel", []),
        ("_Z1kv", "k()", "k", []),
        ("_Z1kPfi", "k(float*, int)", "k", ["float*", "int"]),
        (
            "_Z4gemmIfLi128ELi8EEvPKT_S2_i",
            "void gemm<float, 128, 8>(float const*, float const*, int)",
            "gemm<float, 128, 8>",
            ["float const*", "float const*", "int"],
        ),
        ("_ZN2ns1AILi1EE1kIfEEvT_", "void ns::A<1>::k<float>(float)", "ns::A<1>::k<float>", ["float"]),
        ("_Z1zPFviEPf", "z(void (*)(int), float*)", "z", ["void (*)(int)", "float*"]),
        (
            "_ZN37_GLOBAL__N__7211bdd7_5_st_cu_887eac741qEPf",
            "(anonymous namespace)::q(float*)",
            "(anonymous namespace)::q",
            ["float*"],
        ),
        (
            "_Z1rIZ4mainEUlvE_EvT_",
            "void r<main::{lambda()#1}>(main::{lambda()#1})",
            "r<main::{lambda()#1}>",
            ["main::{lambda()#1}"],
        ),
        ("_Znonsense", "_Znonsense", "_Znonsense", []),
        ("triton_kernel_0d1d", "triton_kernel_0d1d", "triton_kernel_0d1d", []),
    ],
)
def test_demangled_names_and_their_parts(name, plain, head, types):
    assert demangle(name) == plain
    assert split_name(name) == (head, types)


def test_names_remain_mangled_without_a_cxx_runtime_library(monkeypatch):
    monkeypatch.setattr(module, "LIBRARIES", ())
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    clear()
    assert split_name("_Z1kPfi") == ("_Z1kPfi", [])
    clear()


def test_runtime_library_with_another_name_is_found(monkeypatch):
    monkeypatch.setattr(module, "LIBRARIES", ("libnone.so.1",))
    clear()
    assert demangle("_Z1kPfi") == "k(float*, int)"
    clear()


def clear():
    demangle.cache_clear()
    module._split_name.cache_clear()
    module._demangler.cache_clear()
