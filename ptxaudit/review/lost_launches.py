"""Finds launches of a project that lost their kernel: the settings name a kernel that these inputs do not have, and
they have a kernel without a launch.

    launches.toml:12: no kernel here is called 'reduce'; reduce_v2 has no launch: was it renamed?

The settings' launches cover a whole project, so most of them may be for other files, and none of them is an error.
But a kernel that no launch names gets ranges instead of figures, which this reports.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxaudit.base.demangle import split_name
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.matching import KernelNames
from ptxaudit.frontend.options import Options
from ptxaudit.report.model import Kernel

MOST = 3  # launches that are named


def lost_launches(options: Options, kernels: Iterable[Kernel]) -> list[str]:
    """A sentence for each kernel without a launch, if some of the project's launches name none of these kernels."""
    if "launches" not in options.of_project:
        return []
    kernels = list(kernels)
    names = KernelNames(kernel.name for kernel in kernels)
    idle = [launch for launch in options.launches if not names.has(launch)]
    without = list(dict.fromkeys(kernel.name for kernel in kernels if kernel.launch is None))
    return [_sentence(name, idle) for name in without] if idle else []


def _sentence(name: str, idle: list[Launch]) -> str:
    import difflib

    plain = split_name(name)[0]
    close = difflib.get_close_matches(plain, [launch.kernel for launch in idle], MOST, 0.6)
    shown = sorted(idle, key=lambda launch: close.index(launch.kernel) if launch.kernel in close else len(close))[:MOST]
    places = ", ".join(
        f"{launch.kernel!r}" + (f" ({launch.file}:{launch.line})" if launch.file and launch.line else "")
        for launch in shown
    )
    more = f" and {len(idle) - len(shown)} more" if len(idle) > len(shown) else ""
    return (
        f"{plain} has no launch, so that nothing is exact for it; launches in the settings without a kernel here:"
        f" {places}{more}. Was it renamed?"
    )
