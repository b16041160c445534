"""Starts recording in a Python program of `ptxaudit record`, then runs the sitecustomize that this file shadows.

This folder comes first in PYTHONPATH, so that Python imports this file at startup. The program's environment may lack
this package and its dependencies: the package is registered from its location, and only `inside` is imported from it.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _package() -> None:
    """Makes `ptxaudit` importable if it is not, without adding its parent folder to sys.path."""
    root = os.path.abspath(os.path.join(_HERE, *[os.pardir] * 4))
    if "ptxaudit" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "ptxaudit", os.path.join(root, "__init__.py"), submodule_search_locations=[root]
    )
    if spec is not None and spec.loader is not None:
        module = sys.modules["ptxaudit"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def _begin() -> None:
    folder = os.environ.get("PTXAUDIT_RECORD")
    if not folder or sys.version_info < (3, 9):
        return
    try:
        _package()
        from ptxaudit.ui.recording.inside.begin import begin

        begin(folder)
    except Exception as error:
        print(f"ptxaudit: this program is not recorded: {type(error).__name__}: {error}", file=sys.stderr)


def _go_on() -> None:
    """Runs the sitecustomize that Python would have imported without this one."""
    path = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


_begin()
_go_on()
