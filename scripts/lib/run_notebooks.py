"""Runs notebooks and writes or compares their outputs; see notebooks.py.

Runs in .venv, with nbclient and nbformat.
"""

import asyncio
import atexit
import contextlib
import copy
import ctypes
import fcntl
import html
import itertools
import os
import re
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from checkout import NOTEBOOKS, ROOT, VENV, say
from install import digest, go_files, stamp, stamped, write_whole
from notebooks import parser

KERNELSPEC = {"display_name": "Go (gonb)", "language": "go", "name": "gonb"}
LANGUAGE = {"codemirror_mode": "", "file_extension": ".go", "mimetype": "text/x-go", "name": "go", "nbconvert_exporter": "",
            "pygments_lexer": ""}


# ------------------------------------------------------------- network off

def network_off():
    """Put this process, and all it starts, where only loopback is (Linux, root).

    Everywhere, the kernels get GOPROXY=off: the go command fetches nothing.
    """
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000) != 0:  # CLONE_NEWNET
        return False
    # Bring up lo: SIOCGIFFLAGS, then SIOCSIFFLAGS with IFF_UP.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        request = fcntl.ioctl(s, 0x8913, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack_from("h", request, 16)[0]
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))
    return True


# --------------------------------------------------------------- normalise

def tags(cell):
    return cell.metadata.get("tags", [])


def kinds(cell):
    """What kinds of output a cell has, without what they say."""
    return [(o.output_type, o.get("name") or sorted(o.get("data", {}))) for o in cell.get("outputs", [])]


RANDOM_ID = re.compile(r"\bgonb_id_[0-9a-f]{8}\b")


def normalise(nb):
    """Drop all that differs between two runs of the same code.

    Streams of one name become one, before the displays: they travel in pipes
    of their own, so their place among the displays is chance.
    """
    nb.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE})
    nb.nbformat, nb.nbformat_minor = 4, max(5, nb.nbformat_minor)
    count = 0
    ids = {}
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("trusted", None)
        for name in ("collapsed", "scrolled"):
            cell.metadata.pop(name, None)
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        streams, rest = {}, []
        for output in cell.outputs:
            output.pop("transient", None)
            if output.output_type == "stream":
                streams.setdefault(output.name, []).append(output.text)
            else:
                if "execution_count" in output:
                    output.execution_count = count
                rest.append(output)
        merged = [nbformat.v4.new_output("stream", name=name, text="".join(streams[name]))
                  for name in ("stdout", "stderr") if name in streams]
        cell.outputs = merged + rest
        for output in cell.outputs:  # ids that gonbui makes at random
            for mime, value in output.get("data", {}).items():
                if isinstance(value, str):
                    output.data[mime] = RANDOM_ID.sub(lambda m: ids.setdefault(m[0], f"gonb_id_{len(ids) + 1:08x}"), value)
    return nb


def text_of(nb):
    text = nbformat.writes(nb)
    return text if text.endswith("\n") else text + "\n"


# --------------------------------------------------------------------- run

class Failure(Exception):
    pass


class Runner:
    def __init__(self, args, offline):
        self.args = args
        self.offline = offline
        self.specs = KernelSpecManager(kernel_dirs=[str(VENV / "share" / "jupyter" / "kernels")], ensure_native_kernel=False)

    async def execute(self, path, nb):
        """Run all cells of nb in place; raise Failure at the first that fails."""
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        manager = AsyncKernelManager(kernel_name="gonb-raw", kernel_spec_manager=self.specs)
        env = dict(os.environ)
        spec = manager.kernel_spec  # the kernel's own environment comes last, so the switch is set there
        if self.offline is not None:
            spec.env = {**spec.env, "GOPROXY": "off", "GOSUMDB": "off"}
        client = NotebookClient(nb, km=manager, timeout=self.args.timeout, startup_timeout=120,
                                record_timing=False, resources={"metadata": {"path": str(path.parent)}})
        done = 0
        total = sum(c.cell_type == "code" for c in nb.cells)
        said = tempfile.TemporaryFile()  # what the kernel itself writes to standard error
        started = False
        try:
            async with client.async_setup_kernel(env=env, stderr=said):
                started = True
                for index, cell in enumerate(nb.cells):
                    try:
                        await client.async_execute_cell(cell, index, execution_count=done + 1)
                    except CellExecutionError as err:
                        raise Failure(f"cell {cell.get('id', index)} failed: {failure_text(cell, err)}") from None
                    except CellTimeoutError:
                        raise Failure(f"cell {cell.get('id', index)} took more than {self.args.timeout} s") from None
                    except DeadKernelError:
                        raise Failure(f"the kernel died in cell {cell.get('id', index)}{cause(said)}") from None
                    done += cell.cell_type == "code"
                    for output in cell.get("outputs", []):
                        if output.output_type == "error":
                            raise Failure(f"cell {cell.get('id', index)} failed: {failure_text(cell, output)}")
        except Exception as err:
            if started:
                raise
            raise Failure(f"the kernel does not start{cause(said) or f': {err}'}") from None
        finally:
            if client.km is not None and await manager.is_alive():
                await manager.shutdown_kernel(now=True)
            said.close()
            atexit.unregister(client._cleanup_kernel)  # it is done, and complains if the kernel never was
        return total

    async def one(self, path):
        """Run one notebook; returns a list of complaints."""
        start = time.monotonic()
        key = digest(path, ROOT / "go.sum", *go_files())
        if self.args.changed and stamped(f"right-{path.stem}", key):
            say(f"  ok   {show(path)} (as it was)")
            return True
        try:
            before_text = path.read_text(encoding="utf-8")
            nb = nbformat.reads(before_text, as_version=4)
        except Exception as err:
            say(f"  FAIL {show(path)}: not a notebook: {err}")
            return False
        before = copy.deepcopy(nb)
        missing = [i for i, c in enumerate(nb.cells) if "id" not in c]
        try:
            total = await self.execute(path, nb)
        except Exception as err:
            say(f"  FAIL {show(path)}: " + ("" if isinstance(err, Failure) else f"{type(err).__name__}: ") + str(err))
            return False
        normalise(nb)
        took = f"{total} cells, {time.monotonic() - start:.1f} s"
        mixed = [c.id for c in nb.cells if c.cell_type == "code"
                 and {"stream"} < {o.output_type for o in c.outputs}]
        for cell in mixed:
            say(f"  note {show(path)}: cell {cell} writes to stdout and shows rich output: their order is chance for a reader")
        if self.args.action == "update":
            if self.args.keep_measured:
                keep_measured(before, nb)
            text = text_of(nb)
            if text != before_text:
                write_whole(path, text)
            say(f"  {'wrote' if text != before_text else 'same '} {show(path)} ({took})")
            return True
        complaints = compare(before, nb)
        if not complaints and not missing:
            keep_measured(before, nb)
            if text_of(nb) != before_text:
                complaints.append("the file is not in its normal form (" + first_difference(before_text.splitlines(), text_of(nb).splitlines())
                                  + "): write it with scripts/notebooks update")
        if missing:
            complaints.append(f"{len(missing)} cells have no id")
        for complaint in complaints:
            say(f"  FAIL {show(path)}: {complaint}")
        if not complaints:
            stamp(f"right-{path.stem}", key)
            say(f"  ok   {show(path)} ({took})")
        return not complaints


def cause(said):
    """The first line of a kernel's standard error that says what is wrong, after a colon."""
    said.seek(0)
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"[EF]\d{4} |panic:|fatal error:|\S*(?i:error)\b", line)]
    for line in (telling or lines)[:1]:
        return ": " + re.sub(r"^[EF]\d{4} \S+\s+\d+ \S+\] ", "", line)[:500]
    return ""


def failure_text(cell, err):
    """The message of a failed cell: the compiler's words, or the cell's own."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text.rstrip())
        elif output.output_type == "error":
            parts.append("\n".join([output.evalue, *output.traceback]))
        elif "text/html" in output.get("data", {}):
            parts.append(plain(output.data["text/html"])[:2000])
    text = "\n".join(p for p in parts if p) or getattr(err, "evalue", str(err))
    lines = list(dict.fromkeys(line for line in text.splitlines() if line.strip()))
    return "\n" + "\n".join("        " + line for line in lines[:60])


def plain(page):
    """The text of a piece of HTML."""
    page = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", page)
    page = re.sub(r"</(?:div|p|tr|pre|li|h\d)>|<br\s*/?>", "\n", page)
    return html.unescape(re.sub(r"<[^>]*>", " ", page)).strip()


def keep_measured(before, after):
    """Take over the outputs of `machine` cells whose kinds of output fit."""
    old = {c.id: c for c in before.cells if "id" in c}
    for cell in after.cells:
        measured = cell.cell_type == "code" and "machine" in tags(cell) and cell.id in old
        if measured and kinds(old[cell.id]) == kinds(cell) and kinds(cell):
            cell.outputs = copy.deepcopy(old[cell.id].outputs)


def compare(before, after):
    """What differs between the outputs of a file and those of a run."""
    complaints = []
    for old, new in zip(before.cells, after.cells):
        if new.cell_type != "code":
            continue
        if "machine" in tags(new):
            if kinds(old) != kinds(new):
                complaints.append(f"cell {new.id} (measured): the file has outputs {kinds(old)}, this run gave {kinds(new)}")
        elif lines_of(old) != lines_of(new):
            complaints.append(f"cell {new.id}: {first_difference(lines_of(old), lines_of(new))}")
    return complaints


def lines_of(cell):
    """What a cell's outputs say."""
    lines = [f"(execution count {cell.execution_count})"]
    for output in cell.outputs:
        parts = {output.name: output.text} if output.output_type == "stream" else output.get("data") or {"error": output.get("evalue")}
        for kind, text in parts.items():
            lines += [f"({output.output_type}, {kind})", *str(text).splitlines()]
    return lines


def first_difference(old, new):
    for i, (x, y) in enumerate(itertools.zip_longest(old, new, fillvalue="(no more lines)")):
        if x != y:
            at = len(os.path.commonprefix([x, y]))
            x, y = (("…" if at > 60 else "") + s[max(0, at - 60):at + 100] + ("…" if len(s) > at + 100 else "") for s in (x, y))
            return f"first difference in line {i}, column {at + 1}\n        file: {x}\n        run:  {y}"
    return "they differ in their last line break"


def show(path):
    with contextlib.suppress(ValueError):
        return str(path.relative_to(ROOT))
    return str(path)


async def run_all(runner, paths):
    alone, together = [], []
    for path in paths:
        measures = False
        if runner.args.action == "update" and not runner.args.keep_measured:
            with contextlib.suppress(Exception):
                measures = any("machine" in tags(c) for c in nbformat.read(path, as_version=4).cells)
        (alone if measures else together).append(path)
    gate = asyncio.Semaphore(max(1, runner.args.jobs))

    async def gated(path):
        async with gate:
            return await runner.one(path)

    results = list(await asyncio.gather(*map(gated, together)))
    for path in alone:
        results.append(await runner.one(path))
    return results


def main():
    args = parser().parse_intermixed_args()
    paths = [Path(f).resolve() for f in args.files] or sorted(NOTEBOOKS.glob("*.ipynb"))
    if not paths:
        say("There is no notebook to run.")
        sys.exit(1)
    for path in paths:
        if not path.is_file():
            say(f"{path}: there is no such file")
            sys.exit(1)
    offline = None if args.online else network_off()
    say(f"{args.action} {len(paths)} notebook{'s' if len(paths) > 1 else ''}, network "
        + {None: "on", True: "off", False: "off for the go command"}[offline])
    start = time.monotonic()
    try:
        results = asyncio.run(run_all(Runner(args, offline), paths))
    except KeyboardInterrupt:
        sys.exit(130)
    failed = results.count(False)
    say(f"{len(results) - failed} of {len(results)} notebooks are right ({time.monotonic() - start:.0f} s)")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
