"""scripts/notebooks: sees to the set-up, then runs run_notebooks.py in .venv."""

import argparse
import os
import sys

from checkout import PYTHON, SCRIPTS
from install import Log, Setup, ending, lock

DESCRIPTION = """\
Run notebooks with the lesson's kernel, without the network, and write or
compare their outputs.

  update  run, then write the outputs into the notebooks, normalised: execution
          counts 1 to n, no times, streams merged, cell ids kept. Nothing is
          written for a notebook in which a cell fails.
  check   run, and compare with the outputs in the files. They must be the
          same byte for byte, except in cells tagged `machine`: there the kinds
          of output must be the same. Ends with 1 if anything differs or fails.

Without files: all of notebooks/*.ipynb. A notebook with `machine` cells runs
alone under `update`, since others would disturb what it measures.
"""


def parser():
    parser = argparse.ArgumentParser(prog="scripts/notebooks", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("update", "check"))
    parser.add_argument("files", nargs="*", metavar="file", help="a notebook (default: all chapters)")
    parser.add_argument("--keep-measured", action="store_true",
                        help="update: leave the outputs of `machine` cells as they are, if their kinds still fit")
    parser.add_argument("--changed", action="store_true",
                        help="check: leave out the notebooks that were right, if nothing has changed since: their file, or the Go code")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="notebooks that run at once (default 2)")
    parser.add_argument("--timeout", type=int, default=300, metavar="S", help="seconds that one cell may take (default 300)")
    parser.add_argument("--online", action="store_true", help="leave the network on (default: off where the system allows it)")
    return parser


def main():
    parser().parse_intermixed_args()  # options and files in any order
    with ending(interrupted=None), lock():
        setup = Setup(Log("notebooks-setup.log"))
        setup.make(first_cell=False)
    sys.stdout.flush()
    os.execve(PYTHON, [str(PYTHON), "-E", "-s", str(SCRIPTS / "lib" / "run_notebooks.py"), *sys.argv[1:]],
              setup.env)


if __name__ == "__main__":
    main()
