"""scripts/site: set-up, and the lesson as pages.

Standard library only.
"""

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
import webbrowser
from pathlib import Path

from checkout import PAGES, ROOT, Stop, say
from install import Log, Setup, ending, lock, run, unknown_option

HELP = """\
usage: ./scripts/site [--open] [OUT]

Builds the lesson as pages, from the notebooks with the results that are stored
in them, into the folder OUT (site/ without a name). They need no server and no
network: open OUT/index.html in a browser, or copy the folder to any web server.

  --open  open the first page in your browser
  --help  show this

Sets up what it needs inside this checkout first (the first time that takes a
minute and the network). A site that is there is replaced; a folder with other
things in it is left alone.
"""

# Says that a folder is a site of ours, which the next one may replace.
MARK = ".memorywall-site"


def parse(argv):
    """The options, and the folder for the site."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--open", action="store_true")
    options, folders = parser.parse_known_args(argv)
    for option in folders:
        if option.startswith("-"):
            raise unknown_option("site", option, ["open", "help"])
    if len(folders) > 1 or "" in folders:
        raise Stop(f"give one folder, not {', '.join(map(repr, folders))}. ./scripts/site --help shows the options.", code=2)
    return options, Path(os.path.abspath(folders[0])) if folders else ROOT / "site"


def check(out):
    """Stop where a site would take the place of something else."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise Stop(f"{out} is not a folder: name another one for the site")
    if out.is_dir() and not (out / MARK).exists() and any(out.iterdir()):
        raise Stop(f"{out} holds other things: name an empty folder for the site, or one that is not there yet")
    if not out.parent.is_dir():
        raise Stop(f"{out.parent} is not there: make it first, or name another folder for the site")


def build(setup, out):
    """Build the pages beside the folder, then put them in its place; how many there are."""
    new = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
    try:
        made, old = new / "made", new / "old"
        text = run(setup.log, [setup.node, PAGES / "build.mjs", made], env=setup.env, what="building the pages")
        (made / MARK).write_text("Built by ./scripts/site, which may replace this folder.\n", encoding="utf-8")
        if out.exists():
            os.rename(out, old)
        os.rename(made, out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return int(re.search(r"^(\d+) pages?$", text, re.M)[1])


def main(argv):
    options, out = parse(argv)
    if options.help:
        print(HELP, end="")
        return
    check(out)
    start = time.monotonic()
    with lock():
        setup = Setup(Log("site-setup.log"))
        setup.make_pages()
    count = build(setup, out)
    first = (out / "index.html").as_uri()
    say(f"{count} pages in {time.monotonic() - start:.1f} s. The first one: {first}")
    if options.open and not opens(first):
        say("No browser could be started: open that address in one yourself.")


def opens(address):
    with contextlib.suppress(webbrowser.Error, OSError):
        return webbrowser.open(address)
    return False


if __name__ == "__main__":
    with ending():
        main(sys.argv[1:])
