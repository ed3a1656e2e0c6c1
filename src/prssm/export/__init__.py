"""A fitted model in another language: one description, and a file for each target.

`prssm.export(model, to="c", out="folder")` calls `targets.export`: the room has the name of what it
does, so it can be called itself.
"""

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """This package, which a call takes to mean its one verb."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from prssm.export.targets import export

        return export(*arguments, **options)


sys.modules[__name__].__class__ = _Room
