"""Shortened names of kernels keep what distinguishes them."""

from __future__ import annotations

import pytest

from ptxaudit.ui.render.short_names import short_name, short_pair

REDUCE = (
    "void cub::CUB_300001_SM_900::detail::reduce::DeviceReduceKernel<cub::CUB_300001_SM_900::detail::reduce::policy_hub<float,"
    " unsigned int, cuda::std::__4::plus<void>>::Policy1000, float*, unsigned int, cuda::std::__4::plus<void>,"
    " float>(float*, float*)"
)
FLASH = (
    "flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4, false, false, cutlass::half_t, "
    "Flash_kernel_traits<128, 64, 64, 4, cutlass::half_t> >, true, false>(Flash_fwd_params)"
)


@pytest.mark.parametrize(
    "name, most, short",
    [
        (REDUCE, 300, REDUCE),
        (
            REDUCE,
            160,
            (
                "DeviceReduceKernel<policy_hub<float, unsigned int, plus<void>>::Policy1000, float*, unsigned int,"
                " plus<void>, float>"
            ),
        ),
        (REDUCE, 100, "DeviceReduceKernel<policy_hub<…>::Policy1000, float*, unsigned int, plus<…>, float>"),
        (REDUCE, 70, "DeviceReduceKernel<policy_hub<…>::Policy1000, float*, unsigned int, …>"),
        (REDUCE, 30, "DeviceReduceKernel<…>"),
        (REDUCE, 10, "DeviceRed…"),
        (FLASH, 70, "flash_fwd_kernel<Flash_fwd_kernel_traits<…>, true, false>"),
        ("void (anonymous namespace)::k<(Order)0, a::b<int>>(int*)", 20, "k<(Order)0, b<int>>"),
        ("a::K<X>::operator()(int) const", 15, "K<X>::operator…"),
        ("m::k[abi:v1][abi:cw5](Array<int, 1>)", 40, "m::k(Array<int, 1>)"),
        ("k" * 80, 20, "k" * 19 + "…"),
    ],
)
def test_names_are_shortened(name, most, short):
    assert short_name(name, most) == short and len(short) <= most


@pytest.mark.parametrize("most", range(1, 260, 7))
def test_short_name_is_within_the_limit(most):
    for name in (REDUCE, FLASH, "operator< <int>(a<b>)", "<<<", "k<" * 50, "k>" * 50):
        assert len(short_name(name, most)) <= most


@pytest.mark.parametrize(
    "old, new, most, pair",
    [
        (
            "cub::V1_NS::Empty<void>(int)",
            "cub::V1_700_800_NS::Empty<void>(int)",
            30,
            ("cub::V1_NS::Empty<void>", "cub::V1_700_800_NS::Empty<void>"[:29] + "…"),
        ),
        (
            "cub::V1_NS::Empty<void>(int)",
            "cub::V1_700_NS::Empty<void>(int)",
            30,
            ("cub::V1_NS::Empty<void>", "cub::V1_700_NS::Empty<void>"),
        ),
        ("a::k<b::c, 2>(int)", "a::k<b::c, 3>(int)", 9, ("k<c, 2>", "k<c, 3>")),
        (FLASH, FLASH, 70, (short_name(FLASH, 70), short_name(FLASH, 70))),
    ],
)
def test_pair_of_names_is_shortened_consistently(old, new, most, pair):
    assert short_pair(old, new, most) == pair
