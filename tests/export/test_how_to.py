"""Every section of docs/how-to/export.md runs as it is written, and is short."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from fitted_models import random_prssm

from prssm.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "export.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINES = 20
# Packages without which a section cannot run, by its heading.
NEEDS = {
    "FMU": "fmpy",
    "CasADi": "casadi",
    "ONNX": "onnxruntime",
    "Gymnasium": "gymnasium",
    "For the control engineer": "control",
}


def sections():
    if not PAGE.is_file():
        return {}
    parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: BLOCK.findall(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the model that the page speaks of."""
    model = random_prssm()
    model.input_names_ = ("valve",)
    model.output_names_ = ("level",)
    model.save(tmp_path / "plant.prssm")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_block(kind, text, folder):
    """A block by its language; commands of ours run in this process, which is faster."""
    if kind == "c":
        (folder / "main.c").write_text(text)
    elif kind == "python":
        exec(compile(text, str(PAGE), "exec"), {"__name__": "__main__"})
    else:
        for line in text.splitlines():
            if line.startswith("prssm "):
                assert main(shlex.split(line)[1:]) == 0
            else:
                subprocess.run(["bash", "-ec", line], cwd=folder, check=True)


@pytest.mark.parametrize("name", [name for name, blocks in sections().items() if blocks])
def test_a_section_runs(name, folder):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    blocks = sections()[name]
    assert max(len(text.splitlines()) for _, text in blocks) <= LINES
    for kind, text in blocks:
        run_block(kind, text, folder)
