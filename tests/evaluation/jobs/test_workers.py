"""Local processes: every job once, dead processes replaced, nothing left running."""

import os
import time

import pytest
import worker_jobs

from prssm.evaluation.jobs.workers import MAX_ATTEMPTS, Done, Lost, Started, run_in_processes
from prssm.foundation.errors import PrssmError


def _wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_job_is_done_once():
    events = list(run_in_processes(worker_jobs.square, range(7), 2))
    done = {event.job: event.result for event in events if isinstance(event, Done)}
    assert done == {n: n * n for n in range(7)}
    assert sum(isinstance(event, Started) for event in events) == 7
    assert len(events) == 14


def test_a_job_that_kills_its_process_is_given_up_and_the_others_are_done():
    events = list(run_in_processes(worker_jobs.die_on_three, range(5), 2))
    assert sorted(event.result for event in events if isinstance(event, Done)) == [0, 1, 2, 4]
    (lost,) = [event for event in events if isinstance(event, Lost)]
    assert lost.job == 3
    assert "-9" in lost.reason
    assert sum(isinstance(event, Started) and event.job == 3 for event in events) == MAX_ATTEMPTS


def test_a_job_whose_process_died_is_taken_over_by_one_that_had_nothing_left_to_do():
    events = list(run_in_processes(worker_jobs.die_late_on_three, [0, 3], 2))
    assert [event.job for event in events if isinstance(event, Lost)] == [3]
    assert sum(isinstance(event, Started) and event.job == 3 for event in events) == MAX_ATTEMPTS


def test_leaving_early_ends_the_processes(tmp_path):
    events = run_in_processes(worker_jobs.sleep_and_tell, [str(tmp_path)] * 2, 2)
    assert isinstance(next(events), Started)
    assert isinstance(next(events), Started)
    _wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    events.close()
    assert not any(_alive(int(path.name)) for path in tmp_path.iterdir())


def test_processes_that_cannot_start_are_an_error_not_failed_jobs():
    with pytest.raises(PrssmError, match="exit code 7"):
        list(run_in_processes(worker_jobs.Unloadable(), [1, 2], 1))


def test_threads_are_divided_but_the_users_choice_stays(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (shared,) = [
        e.result for e in run_in_processes(worker_jobs.threads, [0], 1) if isinstance(e, Done)
    ]
    assert shared == str(os.cpu_count())
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    (own,) = [
        e.result for e in run_in_processes(worker_jobs.threads, [0], 1) if isinstance(e, Done)
    ]
    assert own == "3"
