"""The package's own build: compiles the native engine where a C++ compiler is found.

Where none is found the package is built without it, and JAX computes instead.
"""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

BUILDER = "src/prssm/dynamics/engines/native/build.py"


class NativeEngine(BuildHookInterface):
    """Adds the library to a wheel, or leaves it beside the sources of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        builder = _load(Path(self.root) / BUILDER)
        try:
            library = builder.build()
        except builder.BuildError as reason:
            self.app.display_warning(
                f"prssm without its native engine (JAX computes instead): {reason}"
            )
            return
        self.app.display_info(f"native engine: {library.name}")
        build_data["artifacts"].append(f"{Path(BUILDER).parent}/{library.name}")
        build_data["pure_python"] = False
        # The library depends on the platform, not on the version of Python.
        build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    """The platform that the library was compiled for, as a part of the wheel's name.

    Names of the manylinux kind promise which old systems a wheel runs on. Nobody has checked that
    here (`auditwheel` does), so the plain name of the platform is taken.
    """
    return next(tag for tag in platform_tags() if "linux_" not in tag or tag.startswith("linux_"))


def _load(path: Path) -> ModuleType:
    """The builder, by its file.

    The package itself cannot be imported before its dependencies are there.
    """
    spec = importlib.util.spec_from_file_location("prssm_native_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
