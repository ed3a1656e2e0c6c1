"""The data folder, and the files of public sets in it.

Taken from there, else downloaded and verified.
"""

import hashlib
import io
import os
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from prssm.foundation.atomic import replacing
from prssm.foundation.errors import DataError, shortened
from prssm.foundation.folders import cache_folder

FOLDER_VARIABLE = "PRSSM_DATA"
UNVERIFIED = "PRSSM_UNVERIFIED"  # set by who accepts a download that nothing can verify
TIMEOUT_SECONDS = 30.0
_SAFE = ("https://", "file://")


@dataclass(frozen=True)
class DataFile:
    """One file of a public set.

    It says where it belongs in the data folder, what its content is, and where it comes from.

    `sha256` is empty where no trusted copy was at hand to take it from; the loader then checks the
    content's shape. `url` is empty where no public address is known. If the address is a zip
    archive, the file is the member of the same name.
    """

    path: str
    sha256: str
    url: str = ""

    @property
    def file_name(self) -> str:
        return PurePosixPath(self.path).name


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of recordings.

    It is the argument, else the environment variable PRSSM_DATA, else the user's cache folder.
    """
    chosen = folder or os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else cache_folder()


def is_local(file: DataFile, folder: Path) -> bool:
    """Whether the file lies in the folder (its content is checked when it is used)."""
    return (folder / file.path).is_file()


def fetch(file: DataFile, folder: Path) -> Path:
    """The file's place in the folder, after a download if it was not there.

    Its checksum is verified in both cases.
    """
    target = folder / file.path
    if target.is_file():
        _verify(file, target.read_bytes(), str(target))
        return target
    if not file.url:
        raise DataError(
            f"{target}: no such file, and no public address of it is known; put {file.file_name} "
            "there "
            f"(the data folder is set by {FOLDER_VARIABLE})"
        )
    content = _member(_downloaded(file, target), file)
    _verify(file, content, file.url)
    with replacing(target) as stream:
        stream.write(content)
    return target


def _downloaded(file: DataFile, target: Path) -> bytes:
    is_safe = file.url.startswith(_SAFE) and bool(file.sha256)
    if not is_safe and not os.environ.get(UNVERIFIED):
        raise DataError(
            f"{target}: no such file, and nobody can tell whether what {file.url} sends is the "
            f"right one (no https or no checksum); put it there, or set {UNVERIFIED}=1 to take it"
        )
    request = urllib.request.Request(file.url, headers={"User-Agent": "prssm"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return response.read()
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{target}: no such file, and its download failed ({shortened(str(reason), 80)}); put "
            f"{file.url} there, or set {FOLDER_VARIABLE}"
        ) from None


def _member(content: bytes, file: DataFile) -> bytes:
    """The file inside a downloaded zip archive; any other download is the file itself."""
    if not content.startswith(b"PK\x03\x04") or file.path.endswith(".npz"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if PurePosixPath(name).name.lower() == file.file_name.lower():
                return archive.read(name)
    raise DataError(f"{file.url}: the archive does not hold {file.file_name}")


def _verify(file: DataFile, content: bytes, where: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if file.sha256 and found != file.sha256:
        raise DataError(
            f"{where}: not the file that the catalogue knows: its sha256 is {found[:12]}.., "
            f"expected {file.sha256[:12]}..; remove or replace it"
        )
