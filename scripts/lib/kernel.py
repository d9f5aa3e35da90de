"""Starts one kernel: `kernel.py FOLDER PROGRAM ARGUMENT…`, called by scripts/kernel.

This process becomes PROGRAM. Beside it stays a watcher, in a session of its
own, so that the signals which Jupyter sends to the kernel's process group do
not reach it. The watcher starts the renderer of static pictures, and waits for
the kernel to end, or the Jupyter that started it. Then it ends all that runs
with FOLDER, the kernel's temporary folder, on its command line (gopls outlives
a killed GoNB, and GoNB a killed Jupyter), and removes FOLDER.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

SCRIPTS = Path(__file__).resolve().parent.parent


def ended(pid):
    """Whether a process is gone; a zombie counts as gone."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_for_end(*pids):
    """Return when one of the processes is gone."""
    while not any(map(ended, pids)):
        time.sleep(0.5)


def server():
    """The process of Jupyter that started the kernel, if it says so."""
    pid = os.environ.get("JPY_PARENT_PID", "")
    return [int(pid)] if pid.isdigit() and int(pid) > 1 else []


def clear_up(folder):
    """End every process that was started with a path in this kernel's folder."""
    for end in (psutil.Process.terminate, psutil.Process.kill):
        left = [process for process in psutil.process_iter(["cmdline"])
                if folder in " ".join(process.info["cmdline"] or ()) and process.pid != os.getpid()]
        for process in left:
            with contextlib.suppress(psutil.Error):
                end(process)
        psutil.wait_procs(left, timeout=0.3)
    shutil.rmtree(folder, ignore_errors=True)


def keep_log(folder):
    """The last kernel's log stays in the checkout, for when a kernel fails."""
    with contextlib.suppress(OSError):
        newest = max(Path(folder).glob("gonb.*.log.INFO.*"), key=os.path.getmtime, default=None)
        if newest is not None:
            shutil.copyfile(newest, SCRIPTS.parent / ".cache" / "log" / "kernel.log")


def watch(kernel, folder):
    renderer = None
    pictures = os.environ.get("MEMORYWALL_RENDER")
    if pictures:
        node = os.environ.get("MEMORYWALL_NODE") or "node"
        with contextlib.suppress(OSError):  # without a renderer figures have no static picture
            renderer = subprocess.Popen(
                [node, str(SCRIPTS / "charts" / "render.mjs"), "--folder", pictures, "--parent", str(kernel)],
                stdin=subprocess.DEVNULL)
    try:
        wait_for_end(kernel, *server())
    finally:
        if renderer is not None:
            renderer.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                renderer.wait(1)
            renderer.kill()
        keep_log(folder)
        clear_up(folder)


def main():
    folder, program = sys.argv[1], sys.argv[2:]
    kernel = os.getpid()
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        for sig in (signal.SIGINT, signal.SIGHUP):
            signal.signal(sig, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.chdir("/")
        os.write(tell, b".")
        os.close(ready)
        os.close(tell)
        watch(kernel, folder)
        return
    os.read(ready, 1)  # from here on a signal to our group does not reach the watcher
    try:
        os.execv(program[0], program)
    except OSError as err:
        print(f"{program[0]} does not start: {err.strerror}. ./scripts/lesson builds it.", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
