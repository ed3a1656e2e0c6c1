"""The queue of training jobs: so many at once, each in a process of its own.

A thread looks at them now and then. Everything is on the disk, so that a new server goes on where
the last one was: jobs that still run are watched again, those that were cut off can be resumed.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prssm.foundation.errors import OptionError
from prssm.studio.answers import NotThere
from prssm.studio.jobs import process
from prssm.studio.jobs.job import (
    DONE,
    FAILED,
    INTERRUPTED,
    OPEN,
    QUEUED,
    RESUMABLE,
    RUNNING,
    STOPPED,
    Job,
)
from prssm.studio.jobs.progress import progress_of

_EVERY = 0.25  # seconds between looks
Tell = Callable[..., None]  # takes the kind of an event, and more about it


class Jobs:
    """The jobs of a project."""

    def __init__(self, project: Path, at_once: int, tell: Tell) -> None:
        self._project = project
        self._folder = project / "jobs"
        self._folder.mkdir(parents=True, exist_ok=True)
        (project / "models").mkdir(parents=True, exist_ok=True)
        self._at_once = at_once
        self._tell = tell
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._seen: dict[str, tuple[int, int]] = {}  # of each model file: time and size
        self._told: dict[str, Any] = {}
        self._stopping: set[str] = set()
        self._end = threading.Event()
        self._recover()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="jobs")

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def all(self) -> list[Job]:
        """The oldest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: job.created)

    def one(self, id_: str) -> Job:
        """The job of that id."""
        with self._lock:
            if id_ not in self._jobs:
                raise NotThere(f"the project has no job {id_!r}")
            return self._jobs[id_]

    def progress(self, job: Job) -> dict[str, Any]:
        """How far it is."""
        return progress_of(self._files(job).with_suffix(".progress"))

    def free_id(self, method: str) -> str:
        """A name that neither a job nor a model has."""
        with self._lock:
            number = 1
            while self._is_taken(f"{method}-{number}"):
                number += 1
            return f"{method}-{number}"

    def add(self, id_: str, words: Sequence[str], task: Mapping[str, Any]) -> Job:
        """Queue a command line that writes `models/<id>.prssm`."""
        with self._lock:
            job = Job(
                id=id_,
                words=tuple(words),
                model=f"models/{id_}.prssm",
                task=task,
                created=time.time(),
            )
            self._keep(job)
        return job

    def stop(self, id_: str) -> None:
        """End a job; a running one keeps its best model so far."""
        with self._lock:
            job = self.one(id_)
            if job.state == QUEUED:
                self._keep(job.changed(state=STOPPED, reason="taken out of the queue"))
            elif job.state == RUNNING and job.pid is not None:
                self._stopping.add(id_)
                process.stop(job.pid)

    def resume(self, id_: str) -> Job:
        """Queue it again, from where it was."""
        with self._lock:
            job = self.one(id_)
            if job.state not in RESUMABLE:
                raise OptionError(f"{id_} is {job.state}: there is nothing to resume")
            words = job.words if "--resume" in job.words else (*job.words, "--resume")
            return self._keep(job.changed(state=QUEUED, reason="", words=words, ended=None))

    def forget(self, id_: str) -> None:
        """Remove a job that is over, with its model."""
        with self._lock:
            job = self.one(id_)
            if job.state in OPEN:
                raise OptionError(f"{id_} is {job.state}: stop it first")
            for path in self._folder.glob(f"{id_}.*"):
                path.unlink(missing_ok=True)
            for ending in ("", ".checkpoint"):
                (self._project / f"{job.model}{ending}").unlink(missing_ok=True)
            del self._jobs[id_]
        self._tell("jobs")

    def judged(self, id_: str, scores: Mapping[str, Any]) -> None:
        """A model on the way was scored."""
        with self._lock:
            if id_ in self._jobs:
                job = self._jobs[id_]
                self._keep(job.changed(history=(*job.history, dict(scores))))

    def close(self) -> None:
        """The server ends: running jobs are told to save themselves, and can be resumed."""
        self._end.set()
        with self._lock:
            for job in self.all():
                if job.state == RUNNING and job.pid is not None:
                    process.stop(job.pid)
                    reason = "the studio was closed; what was trained is saved"
                    self._keep(job.changed(state=INTERRUPTED, reason=reason, ended=time.time()))

    # ---- the watching thread ----

    def _watch(self) -> None:
        while not self._end.wait(_EVERY):
            self.look()

    def look(self) -> None:
        """Start what can start, note what has ended, tell what has changed."""
        with self._lock:
            if self._end.is_set():
                return
            for job in self.all():
                if job.state == RUNNING:
                    self._look_at(job)
            running = sum(job.state == RUNNING for job in self._jobs.values())
            waiting = [job for job in self.all() if job.state == QUEUED]
            for job in waiting[: max(0, self._at_once - running)]:
                self._begin(job)

    def _begin(self, job: Job) -> None:
        files = self._files(job)
        progress = files.with_suffix(".progress")
        progress.unlink(missing_ok=True)
        words = [*job.words, f"--progress=jobs/{progress.name}"]
        try:
            child = process.start(words, self._project, files)
        except OSError as error:
            reason = f"the process could not be started: {error.strerror}"
            self._keep(job.changed(state=FAILED, reason=reason))
            return
        self._processes[job.id] = child
        mark = process.mark_of(child.pid)
        self._keep(job.changed(state=RUNNING, pid=child.pid, mark=mark, begun=time.time()))

    def _look_at(self, job: Job) -> None:
        child = self._processes.get(job.id)
        code = None if child is None else child.poll()
        alive = code is None if child is not None else process.is_alive(job.pid, job.mark)
        self._look_at_model(job)
        told = self.progress(job)
        if told != self._told.get(job.id):
            self._told[job.id] = told
            self._tell("progress", job=job.id, progress=told)
        if not alive:
            self._processes.pop(job.id, None)
            self._finish(job, code)

    def _look_at_model(self, job: Job) -> None:
        """Tell that the model file is new: the best so far, or the last."""
        try:
            found = (self._project / job.model).stat()
        except OSError:
            return
        key = (found.st_mtime_ns, found.st_size)
        if self._seen.get(job.id) != key and found.st_mtime >= (job.begun or 0.0) - 1.0:
            self._seen[job.id] = key
            self._tell("model", job=job.id, seconds=round(time.time() - (job.begun or 0.0), 1))

    def _finish(self, job: Job, code: int | None) -> None:
        """How a process ended; `code` is None where another server has started it."""
        files = self._files(job)
        reason = process.last_line(files.with_suffix(".err"))
        if code == 0 or (code is None and process.has_finished(files)):
            state, reason = DONE, ""
        elif job.id in self._stopping:
            state = STOPPED
        elif code is None:
            state = INTERRUPTED
            reason = reason or "the process ended while no studio was open"
        else:
            state = FAILED
            reason = reason or _by_signal(code)
        self._stopping.discard(job.id)
        self._keep(job.changed(state=state, reason=reason, pid=None, ended=time.time()))

    def _recover(self) -> None:
        """Jobs of an earlier server: those that still run are watched, others were cut off."""
        for path in sorted(self._folder.glob("*.json")):
            job = Job.read(path)
            if job is None or job.id != path.stem:
                continue
            self._jobs[job.id] = job
            if job.state == RUNNING and not process.is_alive(job.pid, job.mark):
                self._finish(job, None)

    # ---- the disk ----

    def _files(self, job: Job) -> Path:
        return self._folder / f"{job.id}.json"

    def _keep(self, job: Job) -> Job:
        self._jobs[job.id] = job.write(self._folder)
        self._tell("jobs")
        return job

    def _is_taken(self, id_: str) -> bool:
        return id_ in self._jobs or (self._project / "models" / f"{id_}.prssm").exists()


def _by_signal(code: int) -> str:
    """What ended a process that said nothing."""
    if code == -9:
        return "the system ended the process: there was probably not enough memory"
    if code < 0:
        return f"the process was ended by signal {-code}"
    return f"the process ended with code {code} and said nothing"
