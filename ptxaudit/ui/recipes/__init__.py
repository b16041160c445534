"""Recipes for build systems and services: files to include or copy, found by `path(get("cmake"))`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ptxaudit.base.errors import InputError


@dataclass(frozen=True)
class Recipe:
    """name: the argument of `ptxaudit recipe`; file: its name in this folder; about: how to use it."""

    name: str
    file: str
    about: str


RECIPES = (
    Recipe("cmake", "ptxaudit.cmake", "CMake: include it, then ptxaudit_check(TARGET …) audits after the build"),
    Recipe("make", "ptxaudit.mk", "make: include it, then `make ptxaudit` audits PTXAUDIT_INPUTS"),
    Recipe("pre-commit", "pre-commit-config.yaml", "pre-commit: for .pre-commit-config.yaml"),
    Recipe("github", "github-workflow.yml", "GitHub Actions: copy to .github/workflows/ptxaudit.yml"),
    Recipe("gitlab", "gitlab-ci.yml", "GitLab CI: copy into .gitlab-ci.yml"),
    Recipe("vscode", "vscode-tasks.json", "VS Code: copy to .vscode/tasks.json; the task audits the open file"),
)


def get(name: str) -> Recipe:
    """The recipe with this name. Raises InputError, listing the names, if there is none."""
    for recipe in RECIPES:
        if recipe.name == name:
            return recipe
    raise InputError(f"there is no recipe {name!r}", f"there are {', '.join(recipe.name for recipe in RECIPES)}")


def path(recipe: Recipe) -> Path:
    """The path of the recipe's file."""
    return Path(__file__).with_name(recipe.file)
