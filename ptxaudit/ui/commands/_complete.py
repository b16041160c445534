"""Shell completion of values: files, folders, rules, machines, architectures.

The completer depends on the metavar of the parameter: FILE, DIR, RULE, sm_NN. Imported only to complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def attach(command: click.Command) -> None:
    """Adds completers to the parameters of a command and its subcommands."""
    for parameter in command.params:
        completer = _completer(parameter)
        if completer is not None:
            parameter._custom_shell_complete = completer
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            attach(inner)


def _completer(parameter: click.Parameter) -> Completer | None:
    metavar = (parameter.metavar or parameter.name or "").strip("[]. ").split("|")[0].removesuffix("]...").upper()
    if parameter.name == "machine" or parameter.name == "name" and parameter.metavar is None:
        return _machines
    return _BY_METAVAR.get(metavar.split(".")[0].split()[0] if metavar else "")


def _files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]  # the shell completes these


def _folders(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="dir")]


def _rules(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ptxaudit.review.rules import RULES

    return [CompletionItem(rule.id, help=rule.title) for rule in RULES.values() if _begins(rule.id, incomplete)]


def _machines(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ptxaudit.hardware.machines import names

    return _of(names(), incomplete)


def _architectures(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ptxaudit.hardware.machines import names

    return _of((name for name in names() if name.startswith("sm_")), incomplete)


_BY_METAVAR: dict[str, Completer] = {
    "INPUT": _files,
    "OLD": _files,
    "REPORT": _files,
    "NCU": _files,
    "FILE": _files,
    "DIR": _folders,
    "RULE": _rules,
    "SM_NN": _architectures,
}


def _of(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if _begins(word, incomplete)]


def _begins(word: str, incomplete: str) -> bool:
    return word.lower().startswith(incomplete.lower())
