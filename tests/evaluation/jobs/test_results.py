"""The results file: nothing is lost, nothing counted twice, nothing foreign touched."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.evaluation.jobs.job_record import SCHEMA_VERSION, key_of
from prssm.evaluation.jobs.results import FILE_NAME, Results
from prssm.foundation.errors import DataError


def _record(key, outcome="ok", **more):
    return {"schema": SCHEMA_VERSION, "key": key, "outcome": outcome, **more}


def _lines(folder):
    return [json.loads(line) for line in (Path(folder) / FILE_NAME).read_text().splitlines()]


def test_what_is_appended_is_read_back(tmp_path):
    results = Results(tmp_path / "new" / "folder")
    assert results.append(_record("a", value=0.1), {"mean": np.arange(3.0)})
    assert results.append(_record("b", "failed", reason="no luck"), {})
    again = Results(tmp_path / "new" / "folder")
    assert (
        again.records
        == results.records
        == {"a": _record("a", value=0.1), "b": _record("b", "failed", reason="no luck")}
    )
    np.testing.assert_array_equal(again.arrays("a")["mean"], np.arange(3.0))
    assert again.arrays("b") == {}


def test_a_folder_without_results_is_not_made_by_looking(tmp_path):
    assert Results(tmp_path / "none").records == {}
    assert not (tmp_path / "none").exists()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_file_torn_anywhere_keeps_its_whole_lines_and_goes_on(data):
    with tempfile.TemporaryDirectory() as folder:
        results = Results(folder)
        texts = data.draw(st.lists(st.text(max_size=20), min_size=1, max_size=4))
        for i, text in enumerate(texts):
            results.append(_record(str(i), text=text), {})
        content = results.path.read_bytes()
        cut = data.draw(st.integers(0, len(content)))
        results.path.write_bytes(content[:cut])
        whole = content[:cut].count(b"\n")
        survivor = Results(folder)
        assert survivor.records == {
            str(i): _record(str(i), text=text) for i, text in enumerate(texts[:whole])
        }
        assert results.path.read_bytes() == content[:cut]  # looking repairs nothing
        survivor.append(_record("after"), {})
        assert [line["key"] for line in _lines(folder)] == [*map(str, range(whole)), "after"]


def test_a_good_result_stays_and_a_failed_one_gives_way(tmp_path):
    results = Results(tmp_path)
    assert results.append(_record("a", "failed"), {})
    assert results.append(_record("a", value=1), {})
    assert not results.append(_record("a", value=2), {"mean": np.zeros(1)})
    assert Results(tmp_path).records == {"a": _record("a", value=1)}
    assert [line["outcome"] for line in _lines(tmp_path)] == ["failed", "ok"]
    assert results.arrays("a") == {}


def test_two_programs_share_a_folder(tmp_path):
    one = Results(tmp_path)
    two = Results(tmp_path)
    assert one.append(_record("a"), {})
    assert two.append(_record("b"), {})
    assert not two.append(_record("a"), {})  # the other has done it
    assert one.append(_record("c"), {})
    assert [line["key"] for line in _lines(tmp_path)] == ["a", "b", "c"]
    assert set(one.records) == {"a", "b", "c"}


def test_a_number_that_is_none_is_not_written(tmp_path):
    results = Results(tmp_path)
    with pytest.raises(ValueError, match="JSON compliant"):
        results.append(_record("a", value=float("nan")), {})
    assert not results.path.exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            b'{"schema": 99, "key": "a", "outcome": "ok"}\n',
            "results version 99, this program reads and writes 1",
        ),
        (b'{"key": "a"}\n', "no 'schema'"),
        (b"[1, 2]\n", "no 'schema'"),
        (b"u,y\n1,2\n", "not JSON"),
        (b"\x00\xff\n", "not JSON"),
        (b'{"schema": 1, "outcome": "ok"}\n', "'key' is missing"),
    ],
)
def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path, line, words):
    path = tmp_path / FILE_NAME
    path.write_bytes(line)
    with pytest.raises(DataError) as caught:
        Results(tmp_path)
    assert words in str(caught.value)
    assert f"{path}, line 1" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == line
    assert os.listdir(tmp_path) == [FILE_NAME]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "runs").write_text("mine")
    with pytest.raises(DataError, match="expected a folder"):
        Results(tmp_path / "runs")


def test_a_row_of_a_study_is_made_once(tmp_path):
    calls = []

    def study(name, seed, folder):
        calls.append((name, seed, folder))
        return {"name": name, "values": [seed, float("nan")], "best": float("inf")}

    results = Results(tmp_path, "rows.jsonl")
    first = results.once(study, "drives", 0, folder="a")
    assert results.once(study, "drives", 0, folder="b") == first  # the folder is no part of the key
    assert Results(tmp_path, "rows.jsonl").once(study, "drives", 0, folder="a") == first
    assert calls == [("drives", 0, "a")]
    assert (first["values"], first["best"], first["outcome"]) == ([0, None], None, "ok")
    results.once(study, "drives", 1, folder="a")
    assert len(results.records) == len(calls) == 2


def test_a_row_that_fails_is_not_kept(tmp_path):
    def study(name):
        raise ZeroDivisionError

    results = Results(tmp_path)
    with pytest.raises(ZeroDivisionError):
        results.once(study, "drives")
    assert results.records == {}


@given(st.permutations(["a", "b", "c"]), st.integers(0, 3))
def test_a_key_depends_on_the_values_not_on_the_order_of_options(names, seed):
    options = {name: ord(name) for name in names}
    key = key_of("drives", options, seed)
    assert key == key_of("drives", dict(sorted(options.items())), seed)
    assert key != key_of("drives", options, seed + 1)
    assert key != key_of("drives", options | {"a": 0}, seed)
