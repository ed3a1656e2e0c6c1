"""The release: builds an sdist and a wheel, and tries the wheel where there is no compiler.

`python -m release` (with `tests` on the path) runs it; `make wheel-check` does.
"""
