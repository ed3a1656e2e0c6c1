"""A fit in several processes: joining, who writes the files, and parting."""

from prssm.evaluation.tasks.settings import ProcessSettings
from prssm.training.distributed import processes, store


def join(settings: ProcessSettings) -> None:
    """Become one of several processes where the settings say so.

    This must come before JAX computes anything.
    """
    if settings.coordinator is not None:
        processes.join(settings.coordinator, settings.processes, settings.process)


def leads(settings: ProcessSettings) -> bool:
    """Whether this process writes the files and speaks."""
    return settings.coordinator is None or store.leads()


def part(settings: ProcessSettings) -> None:
    """The common work is done."""
    if settings.coordinator is not None:
        processes.part()
