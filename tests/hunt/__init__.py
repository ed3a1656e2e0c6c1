"""The hunt: damaged inputs, kills, full disks and crowds, to see that nothing is lost or let in.

`python -m hunt` (with `tests` on the path) runs it; `make hunt` does.
See docs/reference/reliability.md.
"""
