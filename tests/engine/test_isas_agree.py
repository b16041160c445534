"""Two views of one compilation: an access that ptxas kept costs the same in machine code and in PTX, on every
generation.

The two figures come from different text, lifted by different tables; ptxas's own line table pairs the accesses. An
opcode with a wrong meaning shows here.
"""

from __future__ import annotations

import pytest
from paths import SAMPLES

import ptxaudit
from ptxaudit.frontend.launch.launch_file import read_launches

CASES = {"bitonic_sort": 8, "scan": 12, "histogram": 4, "convolution": 40}  # minimum number of pairs of exact figures
ARCHITECTURES = ("sm_75", "sm_89", "sm_103", "sm_121")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", CASES)
def test_access_kept_by_ptxas_costs_the_same_in_both_isas(name, arch):
    folder = SAMPLES / name
    report = ptxaudit.audit(
        folder / f"{name}.cu", isa="both", arch=arch, launches=read_launches(folder / "launch.toml")
    )
    assert not report.problems
    compared = 0
    for ptx in (kernel for kernel in report.kernels if kernel.isa == "ptx" and kernel.launch):
        (sass,) = [k for k in report.kernels if k.isa == "sass" and (k.name, k.launch) == (ptx.name, ptx.launch)]
        theirs = {site.id: site for site in sass.sites}
        for site in ptx.sites:
            if site.pairing is None or site.pairing.what != "kept" or len(site.pairing.sass) != 1:
                continue
            other = theirs[site.pairing.sass[0]]
            if site.settled and other.settled and site.width == other.width:
                assert (site.active_requests, site.wavefronts) == (other.active_requests, other.wavefronts), (
                    site.id,
                    other.offset,
                )
                compared += 1
    assert compared >= CASES[name]
