"""The reader's copy of the chapters, my-lesson/.

Beside it, in my-lesson/.originals/, lies each chapter as it was when it was
copied: so we can tell what the reader changed from what the lesson changed.

JupyterLab copies the kernel's description of its language into a notebook that
it opens. The description has Go's version in it, so the chapters do not have
it; the copies do, or else opening one would mark it as changed.
Standard library only.
"""

import itertools
import json
import re
import time

from checkout import COPY, NOTEBOOKS, ROOT, Stop
from install import write_whole

ORIGINALS = COPY / ".originals"
BACKUPS = COPY / "backups"


def content(text):
    """A notebook without what a program writes into it by itself. None: not a notebook."""
    def whole(value):
        return "".join(value) if isinstance(value, list) and all(isinstance(v, str) for v in value) else value

    try:
        nb = json.loads(text)
        nb["metadata"].pop("language_info", None)
        for cell in nb["cells"]:
            cell["source"] = "".join(cell["source"])
            for name in ("execution", "trusted"):
                cell["metadata"].pop(name, None)
            for output in cell.get("outputs", ()):
                output["text"] = whole(output.get("text"))
                data = output.get("data", {})
                data.update({mime: whole(value) for mime, value in data.items()})
        return nb
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def sources(text):
    """The cells' kinds and sources: what a reader writes. None: not a notebook."""
    nb = content(text)
    return nb and [(cell["cell_type"], cell["source"]) for cell in nb["cells"]]


def same(one, other):
    """Whether two texts are the same notebook: opened and saved counts as the same."""
    if one is None or other is None or one == other:
        return one == other
    notebook = content(one)
    return notebook is not None and notebook == content(other)


def written(nb):
    """A notebook's text, as nbformat writes it."""
    return json.dumps(nb, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def language(text):
    try:
        return json.loads(text)["metadata"]["language_info"]
    except (ValueError, KeyError, TypeError):
        return None


def described(text, version):
    """The text with the version of Go in its language's description, if it has one."""
    if not version or not isinstance(language(text), dict):
        return text
    nb = json.loads(text)
    if written(nb) != text:
        return text
    nb["metadata"]["language_info"]["version"] = version
    return written(nb)


def read(path):
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""  # broken: differs from every chapter


def chapters():
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def keep(path):
    """Move the reader's version of a chapter to backups/; returns its new place."""
    BACKUPS.mkdir(parents=True, exist_ok=True)
    stem = f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (f"{stem}{n}{path.suffix}" for n in itertools.chain([""], (f"-{n}" for n in itertools.count(2))))
    return path.rename(next(BACKUPS / name for name in names if not (BACKUPS / name).exists()))


def put(name, text, version):
    write_whole(COPY / name, described(text, version))
    write_whole(ORIGINALS / name, text)


def refresh(version):
    """Bring my-lesson/ up to date; returns lines that the reader should see.

    version: the kernel's Go.
    """
    notes = []
    fresh = not COPY.exists()
    COPY.mkdir(exist_ok=True)
    for original in chapters():
        name, text = original.name, read(original)
        mine, base = read(COPY / name), read(ORIGINALS / name)
        if mine is None:
            put(name, text, version)
        elif content(mine) is None:
            notes.append(f"{COPY.name}/{name} is damaged: it cannot be read as a notebook. "
                         f"To get the original, and keep yours in backups/: ./scripts/lesson --restore {original.stem}")
        elif same(mine, text):
            if described(text, version) != text and language(mine) != language(described(text, version)):
                put(name, text, version)
            elif base != text:
                write_whole(ORIGINALS / name, text)
        elif base is not None and same(base, text):
            pass  # the lesson did not change; the reader's work stays
        elif same(mine, base):
            put(name, text, version)
            notes.append(f"{name}: brought up to date with the lesson")
        elif sources(mine) == sources(text if base is None else base):
            kept = keep(COPY / name)
            put(name, text, version)
            notes.append(f"{name}: brought up to date with the lesson; your outputs are kept in {kept.relative_to(ROOT)}")
        else:
            notes.append(f"{name}: the lesson has a newer version, yours is changed and stays. "
                         f"To get the newer one: ./scripts/lesson --restore {original.stem}")
    names = {c.name for c in chapters()}
    for old in sorted(COPY.glob("*.ipynb")):
        base = read(ORIGINALS / old.name)
        if old.name not in names and base is not None and same(read(old), base):
            old.unlink()
            (ORIGINALS / old.name).unlink()
            notes.append(f"{old.name}: removed, the lesson has no such chapter any more")
    if fresh:
        notes = [f"Your copy of the chapters: {COPY.relative_to(ROOT)}/ (change it as you like; "
                 "./scripts/lesson --restore brings the originals back)"]
    return notes


def choose(wanted):
    """The chapters that a reader names: '3', '03', '03_naive', a file name or a path."""
    if wanted is None:
        return chapters()
    name = re.sub(r"\.ipynb$", "", wanted.rstrip("/").rsplit("/", 1)[-1])
    number = f"{int(name):02d}" if name.isascii() and name.isdigit() else None
    found = [c for c in chapters()
             if c.stem == name or (number and c.stem.split("_")[0] == number)]
    found = found or [c for c in chapters() if name and c.stem.startswith(name)]
    if not found:
        raise Stop(f"--restore: there is no chapter {wanted!r}. The chapters: " + ", ".join(c.stem for c in chapters()))
    return found


def restore(wanted, version):
    """Bring originals back; what the reader had is kept in backups/.

    version: the kernel's Go, None before there is one.
    """
    lines = []
    for original in choose(wanted):
        name, text = original.name, read(original)
        mine = read(COPY / name)
        if same(mine, text):
            write_whole(ORIGINALS / name, text)
            lines.append(f"{name}: is the original already")
            continue
        COPY.mkdir(exist_ok=True)
        kept = keep(COPY / name) if mine is not None else None
        put(name, text, version)
        lines.append(f"{name}: restored" + (f"; yours is kept as {kept.relative_to(ROOT)}" if kept else ""))
    return lines


def untouched():
    """Files with our content: only those may be marked as trusted."""
    return chapters() + [COPY / c.name for c in chapters() if same(read(COPY / c.name), read(c))]
