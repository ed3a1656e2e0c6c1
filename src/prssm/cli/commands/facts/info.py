"""`prssm info`: what a bug report or a puzzled user needs to know about this installation."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "jax",
    "jaxlib",
    "equinox",
    "optax",
    "numpy",
    "scipy",
    "polars",
    "narwhals",
    "matplotlib",
    "cyclopts",
    "h5py",
)


def info() -> None:
    """Show versions, device, compiled engines, data folder and threads."""
    import jax

    from prssm.dynamics.engines.choice import descriptions
    from prssm.foundation.version import __version__
    from prssm.report.tables import Table, print_table

    devices = ", ".join(
        f"{device.platform}:{device.id} {device.device_kind}" for device in jax.devices()
    )
    rows = [
        ["prssm", __version__],
        ["Python", platform.python_version()],
        ["system", platform.platform()],
        *([name, package_version(name)] for name in PACKAGES),
        ["device", devices],
        [
            "processor cores",
            str(
                len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
            ),
        ],
        ["OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "not set")],
        *([f"{name} engine", text] for name, text in descriptions().items()),
        ["data folder", _data_folder()],
    ]
    print_table(Table("this installation", ["what", "value"], rows))


def package_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _data_folder() -> str:
    from prssm.data.sets import catalogue

    folder = catalogue.data_folder()
    return f"{folder}{'' if folder.is_dir() else ' (not there yet)'} (PRSSM_DATA changes it)"
