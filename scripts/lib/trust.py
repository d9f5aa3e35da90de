"""Mark notebooks as trusted in the project's own Jupyter data folder: `trust.py FILE…`. Runs in .venv."""

import sys

import nbformat
from nbformat.sign import NotebookNotary

notary = NotebookNotary()
for path in sys.argv[1:]:
    notary.sign(nbformat.read(path, as_version=4))
