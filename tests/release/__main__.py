"""`python -m release --out dist`: build, look into the files, install and try the wheel.

`--python python3.12` tries it with another Python, `--with jaxlib==0.11.0` with another jaxlib.
"""

import argparse
import sys
from pathlib import Path

from release import wheel
from release.clean_room import CleanRoom, try_out


def main() -> int:
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder of the two files")
    parser.add_argument("--no-build", action="store_true", help="take what is there already")
    parser.add_argument("--python", default=sys.executable, help="makes the clean environment")
    parser.add_argument("--with", dest="others", nargs="*", default=[], help="more to install")
    parser.add_argument("--room", type=Path, default=Path("build/wheel-check"))
    words = parser.parse_args()
    if not words.no_build:
        wheel.make(words.out)
    wrong = wheel.faults(words.out)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    (path,) = words.out.glob("prssm-*.whl")
    room = CleanRoom(words.room.resolve(), words.python)
    room.install(path, words.others)
    print(path.name)
    print("\n".join(try_out(room)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
