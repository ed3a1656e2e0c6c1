"""What an export writes: a folder of files, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from prssm.export import places
from prssm.foundation.atomic import replacing


def write_folder(out: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files into the folder `out`; files of other names there stay as they are."""
    places.folder(out).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with replacing(out / name) as stream:
            stream.write(content if isinstance(content, bytes) else content.encode())
    return out
