"""The queue, with a quick program in place of a fit: ends, deaths, stops and new servers."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prssm.foundation.errors import OptionError
from prssm.studio.answers import NotThere
from prssm.studio.jobs import process
from prssm.studio.jobs.job import DONE, FAILED, INTERRUPTED, QUEUED, RUNNING, STOPPED, Job
from prssm.studio.jobs.queue import Jobs

# Does what its first word says; like `prssm fit` it writes a model and says so at the end.
PROGRAM = """
import pathlib, signal, sys, time
what, out = sys.argv[1], pathlib.Path(sys.argv[2])
signal.signal(signal.SIGTERM, lambda *_: (print("prssm: saved", file=sys.stderr), sys.exit(143)))
out.parent.mkdir(exist_ok=True)
part = out.with_suffix(".part")
part.write_text("a model")
part.replace(out)
if what == "dies":
    sys.exit("prssm: the log has no column 'x'")
if what == "crashes":
    import os
    os.kill(os.getpid(), signal.SIGKILL)
while what == "lasts" and "--resume" not in sys.argv:
    time.sleep(0.02)
print("model:", out)
"""


@pytest.fixture(autouse=True)
def quick_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PROGRAM", [sys.executable, "-S", "-c", PROGRAM])


@pytest.fixture
def events() -> list[tuple[str, dict]]:
    return []


@pytest.fixture
def jobs(tmp_path: Path, events: list) -> Iterator[Jobs]:
    made = Jobs(tmp_path, 1, lambda kind, **more: events.append((kind, more)))
    yield made
    made.close()


def until(jobs: Jobs, true: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, [(job.id, job.state, job.reason) for job in jobs.all()]
        jobs.look()
        time.sleep(0.01)


def add(jobs: Jobs, what: str, name: str) -> Job:
    return jobs.add(name, [what, f"models/{name}.prssm"], {"method": what})


def is_in(jobs: Jobs, name: str, state: str) -> Callable[[], bool]:
    return lambda: jobs.one(name).state == state


def test_jobs_run_one_after_the_other_and_tell_of_their_models(
    jobs: Jobs, events: list, tmp_path: Path
) -> None:
    for name in ("a-1", "a-2"):
        add(jobs, "ends", name)
    jobs.look()
    assert [job.state for job in jobs.all()] == [RUNNING, QUEUED]
    until(jobs, is_in(jobs, "a-2", DONE))
    assert [job.state for job in jobs.all()] == [DONE, DONE]
    assert [more["job"] for kind, more in events if kind == "model"] == ["a-1", "a-2"]
    assert Job.read(tmp_path / "jobs" / "a-1.json") == jobs.one("a-1")


def test_a_job_that_dies_says_why_and_takes_nothing_with_it(jobs: Jobs) -> None:
    add(jobs, "dies", "a-1")
    add(jobs, "crashes", "a-2")
    add(jobs, "ends", "a-3")
    until(jobs, is_in(jobs, "a-3", DONE))
    assert jobs.one("a-1").state == FAILED
    assert jobs.one("a-1").reason == "the log has no column 'x'"
    assert "memory" in jobs.one("a-2").reason


def test_a_stopped_job_keeps_its_model_and_goes_on_later(jobs: Jobs, tmp_path: Path) -> None:
    add(jobs, "lasts", "a-1")
    until(jobs, lambda: (tmp_path / "models" / "a-1.prssm").exists())
    jobs.stop("a-1")
    until(jobs, is_in(jobs, "a-1", STOPPED))
    assert jobs.one("a-1").reason == "saved"
    jobs.resume("a-1")
    until(jobs, is_in(jobs, "a-1", DONE))
    assert jobs.one("a-1").words[-1] == "--resume"


def test_a_waiting_job_leaves_the_queue(jobs: Jobs) -> None:
    add(jobs, "ends", "a-1")
    jobs.stop("a-1")
    assert jobs.one("a-1").state == STOPPED


def test_a_new_server_watches_a_job_that_still_runs(jobs: Jobs, tmp_path: Path) -> None:
    add(jobs, "lasts", "a-1")
    until(jobs, lambda: (tmp_path / "models" / "a-1.prssm").exists())
    later = Jobs(tmp_path, 1, lambda kind, **more: None)
    assert later.one("a-1").state == RUNNING
    os.kill(jobs.one("a-1").pid, signal.SIGTERM)
    jobs._processes["a-1"].wait()  # the first server's child: it must not stay a zombie
    until(later, is_in(later, "a-1", INTERRUPTED))
    assert later.one("a-1").reason == "saved"
    later.resume("a-1")
    until(later, is_in(later, "a-1", DONE))


def test_a_job_that_was_done_meanwhile_is_done(jobs: Jobs, tmp_path: Path) -> None:
    add(jobs, "ends", "a-1")
    jobs.look()
    jobs._processes["a-1"].wait()
    later = Jobs(tmp_path, 1, lambda kind, **more: None)
    assert later.one("a-1").state == DONE


def test_a_later_process_with_the_same_number_is_another_one(tmp_path: Path) -> None:
    Jobs(tmp_path, 1, lambda kind, **more: None)
    job = Job(id="a-1", words=("ends",), model="m", state=RUNNING, pid=os.getpid(), mark="1")
    job.write(tmp_path / "jobs")
    assert Jobs(tmp_path, 1, lambda kind, **more: None).one("a-1").state == INTERRUPTED


def test_closing_saves_what_runs(jobs: Jobs, tmp_path: Path) -> None:
    add(jobs, "lasts", "a-1")
    until(jobs, lambda: (tmp_path / "models" / "a-1.prssm").exists())
    jobs.close()
    assert jobs.one("a-1").state == INTERRUPTED
    assert jobs._processes["a-1"].wait(10) == 143


def test_a_job_that_is_over_can_be_removed(jobs: Jobs, tmp_path: Path) -> None:
    add(jobs, "lasts", "a-1")
    jobs.look()
    with pytest.raises(OptionError, match="stop it first"):
        jobs.forget("a-1")
    jobs.stop("a-1")
    until(jobs, lambda: jobs.one("a-1").state in (STOPPED, FAILED))
    jobs.forget("a-1")
    assert not list((tmp_path / "jobs").iterdir())
    assert not list((tmp_path / "models").iterdir())
    with pytest.raises(NotThere):
        jobs.one("a-1")


def test_names_of_models_are_never_taken_twice(jobs: Jobs, tmp_path: Path) -> None:
    (tmp_path / "models" / "linear-1.prssm").write_text("of a command line", encoding="utf-8")
    add(jobs, "ends", "linear-2")
    assert jobs.free_id("linear") == "linear-3"


def test_a_spoilt_job_file_is_left_alone(tmp_path: Path) -> None:
    Jobs(tmp_path, 1, lambda kind, **more: None)
    (tmp_path / "jobs" / "a-1.json").write_text("{", encoding="utf-8")
    assert Jobs(tmp_path, 1, lambda kind, **more: None).all() == []
