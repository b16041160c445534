"""`ptxaudit recipe`: files for build systems and CI services, to include or to copy."""

from __future__ import annotations

import click


@click.command("recipe")
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--path", "only_path", is_flag=True, help="Print the path of the file, to include it from there.")
def command(name: str | None, only_path: bool) -> None:
    """Print a recipe: cmake, make, pre-commit, github, gitlab or vscode. Without NAME, list them."""
    from ptxaudit.ui import recipes

    if name is None:
        for recipe in recipes.RECIPES:
            click.echo(f"{recipe.name:<11} {recipe.about}")
        return
    file = recipes.path(recipes.get(name))
    click.echo(str(file) if only_path else file.read_text(encoding="utf-8"), nl=only_path)
