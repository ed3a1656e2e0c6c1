"""What `prssm studio` can be told, checked when it is built."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from prssm.foundation.errors import OptionError

LOOPBACK = "127.0.0.1"
PORTS = range(1, 65536)


@dataclass(frozen=True, kw_only=True)
class StudioSettings:
    """Which project, where the server listens, and what it refuses.

    `port` 0 is any free one. `upload` is the largest file that the page may send, in megabytes.
    `at_once` is how many models are trained at the same time.
    """

    data: tuple[str, ...] = ()
    project: Path = Path("prssm-project")
    host: str = LOOPBACK
    port: int = 0
    allow_remote: bool = False
    upload: float = 500.0
    at_once: int = 1

    def __post_init__(self) -> None:
        if self.port != 0 and self.port not in PORTS:
            raise OptionError(f"--port: expected a number from 1 to 65535, got {self.port}")
        if not self.upload > 0:
            raise OptionError(f"--upload: expected more than 0 megabytes, got {self.upload}")
        if self.at_once < 1:
            raise OptionError(f"--at-once: expected at least 1, got {self.at_once}")
        if not is_loopback(self.host) and not self.allow_remote:
            raise OptionError(
                f"--host: {self.host} lets other machines reach this one; say --allow-remote if "
                "that is meant (the address still holds a secret word)"
            )
        if self.project.exists() and not self.project.is_dir():
            raise OptionError(f"--project: expected a folder, got the file {str(self.project)!r}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
