"""scripts/lesson: set-up, the reader's copy, and JupyterLab on it.

Standard library only.
"""

import json
import os
import platform
import sys
import time

import reader
from checkout import COPY, JUPYTER, PYTHON, ROOT, SCRIPTS, VENV, Stop, say
from install import Log, Setup, cannot_write, digest, lock, run, stamp, stamped, write_if_changed

HELP = """\
usage: ./scripts/lesson [--restore [chapter] | --setup-only | --help] [options of JupyterLab]

Sets up what the lesson needs inside this checkout (the first time takes a few
minutes and the network), and opens JupyterLab on your own copy of the
chapters, my-lesson/.

  --restore [chapter]  bring a chapter's original back (all without a name); your
                       version is kept in my-lesson/backups/. Does not open JupyterLab.
  --setup-only         set up, but do not open JupyterLab
  --no-browser         (JupyterLab's) print the address, open no browser
  --port N             (JupyterLab's) listen on port N of localhost
  --help               show this; --help-all shows JupyterLab's options

The first chapter: my-lesson/00_index.ipynb. Stop JupyterLab with Ctrl-C, twice.
"""

START = f"{COPY.name}/00_index.ipynb"


def is_wsl():
    return "microsoft" in platform.release().lower()


def jupyter_files():
    """Settings of the server and of the pages, written afresh at each start.

    As files rather than options, so that options on the command line win.
    """
    config = JUPYTER / "config"
    server = {
        "ServerApp": {
            "ip": "localhost",
            "root_dir": str(ROOT),
            "allow_root": True,  # a container's only user is often root; the server listens on localhost only
            "use_redirect_file": not is_wsl(),  # a browser of Windows cannot read the redirect file
            "jpserver_extensions": {"jupyter_lsp": False, "notebook_shim": False},
        },
        "MultiKernelManager": {"default_kernel_name": "gonb"},
        "KernelSpecManager": {"allowed_kernelspecs": ["gonb"], "ensure_native_kernel": False},
    }
    lab = {
        "LabApp": {
            "default_url": "/lab/tree/" + START,
            # Ask nobody for news, newer versions or lists of extensions.
            "news_url": None,
            "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "extension_manager": "readonly",
        },
    }
    overrides = {
        "@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"},
        "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
    }
    page = {
        "disabledExtensions": {
            "@jupyterlab/apputils-extension:announcements": True,
            "@jupyterlab/extensionmanager-extension": True,
            "@jupyterlab/lsp-extension": True,
            # These two cannot start without it, and log errors.
            "@jupyterlab/fileeditor-extension:language-server": True,
            "@jupyterlab/notebook-extension:language-server": True,
        },
    }
    for path, content in (
        (config / "jupyter_server_config.json", server),
        (config / "jupyter_lab_config.json", lab),
        (VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json", overrides),
        (VENV / "etc" / "jupyter" / "labconfig" / "page_config.json", page),
    ):
        write_if_changed(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    for folder in ("data", "runtime"):
        (JUPYTER / folder).mkdir(parents=True, exist_ok=True)
    os.chmod(JUPYTER / "runtime", 0o700)


def trust(setup):
    """Tell Jupyter that the chapters are ours, so that their figures are live."""
    files = reader.untouched()
    if os.environ.get("MEMORYWALL_TRUST") == "no":  # tests look at an untrusted chapter
        return
    key = digest(*[str(f.relative_to(ROOT)) for f in files], *files)
    database = JUPYTER / "data" / "nbsignatures.db"
    if not files or (stamped(f"trust-{COPY.name}", key) and database.exists()):
        return
    run(setup.log, [PYTHON, "-E", "-s", SCRIPTS / "lib" / "trust.py", *files], env=setup.env, what="trusting the notebooks")
    stamp(f"trust-{COPY.name}", key)


def restore(wanted):
    with lock():
        for line in reader.restore(wanted):
            say(line)
        log = Log()
        setup = Setup(log)
        if (VENV / ".stamps" / "python").exists():
            trust(setup)
    say("Start with ./scripts/lesson. In an open JupyterLab: File > Reload Notebook from Disk.")


def parse(argv):
    """(our options, the rest for JupyterLab)"""
    ours, rest = {}, []
    argv = list(argv)
    while argv:
        arg = argv.pop(0)
        if arg in ("-h", "--help"):
            ours["help"] = True
        elif arg == "--setup-only":
            ours["setup-only"] = True
        elif arg == "--restore":
            ours["restore"] = argv.pop(0) if argv and not argv[0].startswith("-") else None
        elif arg.startswith("--restore="):
            ours["restore"] = arg.partition("=")[2] or None
        else:
            rest.append(arg)
    return ours, rest


def main(argv):
    ours, rest = parse(argv)
    if "help" in ours:
        print(HELP, end="")
        return
    if "restore" in ours:
        if rest:
            raise Stop(f"--restore stands alone, without {' '.join(rest)}")
        restore(ours["restore"])
        return
    start = time.monotonic()
    say(f"The lesson in {ROOT}")
    with lock():
        setup = Setup(Log())
        setup.make()
        jupyter_files()
        notes = reader.refresh()
        trust(setup)
    for note in notes:
        say(note)
    say(f"Ready in {time.monotonic() - start:.1f} s.")
    if "setup-only" in ours:
        return
    say(f"Opening JupyterLab on {START}. Its address, with the token, is below; stop it with Ctrl-C, twice.")
    os.chdir(ROOT)
    os.execve(PYTHON, [str(PYTHON), "-E", "-s", "-m", "jupyterlab", *rest], setup.env)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Stop as stop:
        print(f"\n{stop}", file=sys.stderr)
        sys.exit(stop.code)
    except OSError as err:
        print("\n" + cannot_write(err, err.filename or ROOT), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\nStopped. Start again: what is done already is kept.", file=sys.stderr)
        sys.exit(130)
