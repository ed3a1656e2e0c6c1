"""`prssm fit` on many devices and in several processes: from the words of a command line to a run
that joins.
"""

from typing import Any

from prssm.foundation.errors import OptionError


def join(merged: dict[str, Any]) -> None:
    """Become one of several processes where the settings say so; must come before JAX computes
    anything.
    """
    coordinator, processes, process = (
        merged[name] for name in ("coordinator", "processes", "process")
    )
    if coordinator is None:
        for name, value in (("processes", processes), ("process", process)):
            if value is not None:
                raise OptionError(
                    f"--{name}: expected together with --coordinator host:port (or auto), got it "
                    "alone"
                )
        return
    from prssm.training.distributed import processes as run

    run.join(coordinator, processes, process)


def devices(word: str | int | None) -> int | str | None:
    """What `--devices` says: a number, 'auto', or None."""
    if word is None or isinstance(word, int) or word == "auto":
        return word
    if not word.isdecimal():
        raise OptionError(f"--devices: expected a whole number or 'auto', got {word!r}")
    return int(word)


def leads(merged: dict[str, Any]) -> bool:
    """Whether this process writes the files and speaks."""
    if merged["coordinator"] is None:
        return True  # without asking JAX, which takes a second to load
    from prssm.training.distributed import store

    return store.leads()


def part(merged: dict[str, Any]) -> None:
    """The common work is done."""
    if merged["coordinator"] is not None:
        from prssm.training.distributed import processes as run

        run.part()
