"""The models of a project: every file in its folder `models`, loaded once and kept."""

from functools import partial
from pathlib import Path
from typing import Any

from prssm.foundation.errors import PrssmError
from prssm.models.estimator import Estimator
from prssm.models.files import load
from prssm.studio.answers import NotThere
from prssm.studio.kept import Kept

_KEPT = 12  # models that stay in memory
_TOLD = 500  # descriptions of models that stay


class Models:
    """The folder `models`; a model's id is the name of its file without the ending."""

    def __init__(self, project: Path) -> None:
        self._folder = project / "models"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._kept: Kept[Estimator] = Kept(_KEPT)
        self._told: Kept[dict[str, Any]] = Kept(_TOLD)

    def paths(self) -> dict[str, Path]:
        """All model files by id; an id is looked up here and never made into a path."""
        return {path.stem: path for path in sorted(self._folder.glob("*.prssm"))}

    def path(self, id_: str) -> Path:
        """The file of a model."""
        found = self.paths().get(id_)
        if found is None:
            raise NotThere(f"the project has no model {id_!r}")
        return found

    def one(self, id_: str) -> Estimator:
        """The model, read again where its file has changed."""
        path = self.path(id_)
        return self._kept.get((id_, path.stat().st_mtime_ns), lambda: load(path))

    def version(self, id_: str) -> int:
        """A number that changes with the file."""
        return self.path(id_).stat().st_mtime_ns

    def described(self) -> list[dict[str, Any]]:
        """Each model in a few words; what cannot be read says why."""
        return [
            self._told.get((id_, path.stat().st_mtime_ns), partial(self._described, id_))
            for id_, path in self.paths().items()
        ]

    def _described(self, id_: str) -> dict[str, Any]:
        try:
            model = self.one(id_)
        except (PrssmError, OSError) as error:
            return {"id": id_, "error": str(error)}
        return {
            "id": id_,
            "method": model.name,
            "inputs": list(model.input_names_),
            "outputs": list(model.output_names_),
            "dt": model.dt_,
        }
