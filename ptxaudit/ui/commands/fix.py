"""`ptxaudit fix`: finds and proves repairs of conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ptxaudit.ui.commands._config import configurable
from ptxaudit.ui.commands._files import WithFiles, as_files
from ptxaudit.ui.commands._options import input_options, isa_option, launch_options, options_of, table_width_option

if TYPE_CHECKING:
    from ptxaudit.frontend.options import Options
    from ptxaudit.pipeline.collect import Part, Progress
    from ptxaudit.pipeline.kernels import Examined
    from ptxaudit.review.fix.repairs import ArrayRepairs
    from ptxaudit.review.fix.report import PatchEntry

_UNPRINTABLE = "the diff has control characters, which are not printed", "name a file with --patch"


@click.command("fix", cls=WithFiles)
@click.argument("input", callback=as_files)
@click.argument("site", required=False)
@input_options
@isa_option
@launch_options
@click.option(
    "--smem-limit",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Limit the shared memory per block after a repair. [static: 49152; dynamic: the architecture's limit]",
)
@click.option(
    "--patch",
    metavar="FILE",
    help="Write the best repairs, recompiled and audited again, as a unified diff; - for standard output.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the repairs to FILE instead of standard output.")
@table_width_option
@click.pass_context
@configurable
def command(
    ctx: click.Context,
    input: str,
    site: str | None,
    smem_limit: int | None,
    patch: str | None,
    form: str,
    output: str | None,
    width: int | None,
    **given: Any,
) -> None:
    """Find layouts of shared arrays that cost fewer wavefronts, and prove them.

    INPUT is an input of `ptxaudit audit`. SITE, as in `ptxaudit explain` (file:line, kernel+offset, a line of PTX, an
    id), limits the search to the arrays that it accesses. All sites of an array are repaired together, in all kernels
    of a folder that share its declaration. Every repair shown is proved for every request; where there is no proof,
    the reason is shown.

    Exit status: 0 with or without repairs, 2 something could not be checked.
    """
    from ptxaudit.frontend.inputs import keep_inputs
    from ptxaudit.review.fix.run import find_repairs, report_of
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit_as, in_width, tell
    from ptxaudit.ui.render.fixes import fix_text
    from ptxaudit.ui.render.problems import problem_text

    for file in (output, None if patch == "-" else patch):
        keep_inputs(file, [input, *given["launch_files"], given["compile_commands"]])
    options = options_of(given)
    with progress() as step:
        found, kernels, part = find_repairs([input], options, site, smem_limit, step)
        patched = _patched(found, kernels, part, input, patch, options, smem_limit, step) if patch else None
        report = report_of(found, part, patched)
    emit_as(form, report, lambda: in_width(fix_text(report), width), output)
    for problem in report.problems:
        tell(problem_text(problem))
    ctx.exit(2 if report.problems else 0)


def _patched(
    found: list[ArrayRepairs],
    kernels: list[Examined],
    part: Part,
    input: str,
    file: str,
    options: Options,
    limit: int | None,
    step: Progress,
) -> PatchEntry:
    """Makes the patch and writes it as a unified diff."""
    from ptxaudit.base import printable
    from ptxaudit.base.errors import InputError
    from ptxaudit.report.model import Problem
    from ptxaudit.review.fix.patch import patch
    from ptxaudit.review.fix.report import patch_entry
    from ptxaudit.ui.commands._write import emit

    if input == "-":
        raise InputError("--patch changes files, but the input is standard input", "name the source file")
    made = patch(found, kernels, [input], options, step, limit)
    if made.diff:
        if file == "-" and printable.output(made.diff) != made.diff:
            part.problems.append(Problem.of(InputError(*_UNPRINTABLE, input)))
            made.diff = ""
        else:
            emit(made.diff, None if file == "-" else file, safe=str)  # with any escape it would not apply
    return patch_entry(made, file)
