"""Other packages for system identification, each in a virtual environment of its own.

`environment("sippy", folder)` makes it at the first call. A new peer is a line in `PEERS` and an
adapter in benchmarks/peers/.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ADAPTERS = Path(__file__).parent / "peers"


class Peer(NamedTuple):
    """What to install, in this order, and which adapter drives it with which words.

    Without anything to install it runs where this program runs.
    """

    packages: tuple[str, ...]
    adapter: str
    words: tuple[str, ...] = ()


PEERS = {
    "prssm": Peer((), "with_prssm.py"),
    "prssm linear": Peer((), "with_prssm.py", ("linear",)),
    "jax-sysid": Peer(("jax-sysid==1.1.0",), "with_jax_sysid.py"),
    # PyTorch first: any version would do for deepSI, and this one has a build without CUDA
    "deepSI": Peer(("torch==2.13.0", "deepSI==0.4.4"), "with_deepsi.py"),
    "sysidentpy": Peer(("sysidentpy==0.9.0",), "with_sysidentpy.py"),
    "SIPPY": Peer(("sippy_unipi==1.0.1",), "with_sippy.py"),
    "nfoursid": Peer(("nfoursid==1.0.2",), "with_nfoursid.py"),
}


def environment(name: str, folder: Path) -> tuple[Path, list[str]]:
    """The Python in which a peer runs, and the versions of all that is installed there.

    An environment that was made for other versions is brought to these.
    """
    packages = PEERS[name].packages
    if not packages:
        return Path(sys.executable), []
    home = folder / name.lower()
    python = home / "env" / "bin" / "python"
    versions = home / "versions.txt"
    asked = f"# {' '.join(packages)}"
    if not versions.is_file() or versions.read_text().splitlines()[0] != asked:
        subprocess.run([sys.executable, "-m", "venv", str(home / "env")], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
        for package in packages:
            subprocess.run([*pip, "install", "--quiet", package], check=True)
        listed = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True)
        versions.write_text(f"{asked}\n{listed.stdout}")
    return python.absolute(), versions.read_text().splitlines()[1:]


def surroundings(name: str, folder: Path) -> dict[str, str]:
    """Variables of a peer's process: it finds no package of ours, and writes to its own folder."""
    if not PEERS[name].packages:
        return dict(os.environ)
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return kept | {"HOME": str((folder / name.lower()).absolute())}
