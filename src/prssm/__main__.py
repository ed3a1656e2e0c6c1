"""`python -m prssm` is the program `prssm`."""

import sys

from prssm.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
