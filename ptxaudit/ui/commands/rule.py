"""`ptxaudit rule`: explains a rule and its remedy; without a name, lists the rules."""

from __future__ import annotations

import click


@click.command("rule")
@click.argument("names", nargs=-1, metavar="[RULE]...")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
@click.option("--example", is_flag=True, help="Show source that triggers the rule, and source that does not.")
def command(names: tuple[str, ...], form: str, example: bool) -> None:
    """Explain a rule and its remedy, as in `ptxaudit rule PA001`. Without RULE, list all rules."""
    import json

    from ptxaudit.review import rules
    from ptxaudit.ui.render.rule import rule_dict, rule_list, rule_markdown, rule_text

    chosen = [rules.get(name) for name in names] or list(rules.RULES.values())
    if form == "json":
        click.echo(json.dumps([rule_dict(rule) for rule in chosen], indent=2, ensure_ascii=False))
    elif form == "text" and not names:
        click.echo(rule_list(chosen), nl=False)
    else:
        write = rule_text if form == "text" else rule_markdown
        click.echo("\n".join(write(rule, example) for rule in chosen), nl=False)
