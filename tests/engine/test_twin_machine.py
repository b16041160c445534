"""The engine on machine code that ptxas made from random kernels, compared with the twin on their PTX."""

from __future__ import annotations

from twin import generate, machine

KERNELS = 20


def test_machine_code_of_random_kernels_agrees_with_the_interpreter():
    kernels = [
        k
        for seed in range(7000, 7000 + 2 * KERNELS)
        if machine.settled(k := generate.kernel(seed, small=True, loaded=False))
    ][:KERNELS]
    verdict = machine.compared(kernels)
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.exact > 0.6 * verdict.sites, verdict.others
    assert sum(kind == "together" for kind, _ in verdict.others) <= 0.1 * verdict.exact, verdict.others
