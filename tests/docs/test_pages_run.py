"""Every command and block of code of the manual runs.

`make test` runs the pages with models that are trained for a moment, but for blocks that are
marked as slow. `make docs-test` runs all of them as they are written.
"""

import os
import shutil
from functools import cache
from pathlib import Path

import pages
import pytest
import scenes

from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.estimator import PRSSM

ROOT = Path(__file__).parents[2]
SLOW = os.environ.get("PRSSM_DOCS") == "slow"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
READ = [pages.read(path) for path in PAGES if "_generated" not in path.parts]
RUN = [page for page in READ if pages.chosen(page, slow=SLOW)]
# Packages of extras, without which a page cannot run to its end.
OPTIONAL = {"casadi", "control", "fmpy", "gymnasium", "onnxruntime", "sklearn"}
# What a fit is cut down to, by method: rows, and options in place of those of the page.
ROWS = 120
BRIEF = {
    PRSSM: {
        "iterations": 12,
        "restarts": 1,
        "fold_restarts": 1,
        "folds": 0,
        "complexity": "free",
        "latent_dim": 2,
    },
    LinearSSM: {"order": 2, "starts": 1, "random_starts": 0},
}


@pytest.fixture
def trained_as_the_page_needs(monkeypatch):
    """As written in `make docs-test`; else for a moment, whatever the page says."""
    if not SLOW:
        for kind, options in BRIEF.items():
            monkeypatch.setattr(kind, "_fit_scaled", briefly(kind._fit_scaled, options))


def briefly(fit, options):
    def fit_briefly(self, records, session):
        wanted = self.config
        self.config = wanted.replace(**options)
        try:
            fit(self, [record[:ROWS] for record in records], session)
        finally:
            self.config = wanted

    return fit_briefly


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """The files of a scene, made once."""

    @cache
    def made(name):
        folder = tmp_path_factory.mktemp(f"scene-{name or 'empty'}")
        scenes.write(name, folder)
        return folder

    return made


def named(page):
    return str(page.path.relative_to(ROOT))


@pytest.mark.usefixtures("trained_as_the_page_needs")
@pytest.mark.parametrize("page", RUN, ids=named)
def test_a_page_runs(page, scene, tmp_path):
    shutil.copytree(scene(page.scene), tmp_path, symlinks=True, dirs_exist_ok=True)
    if shutil.which("cc") is None and any(block.language == "c" for block in page.blocks):
        pytest.skip("needs a C compiler")
    try:
        pages.run(page, tmp_path, in_process=not SLOW, slow=SLOW)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"needs the package {error.name}")
