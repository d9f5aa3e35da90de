"""Starts the lesson's kernel and runs a cell in it; ends with 1, and what was said, where that fails. Runs in .venv."""

import sys
import tempfile

from jupyter_client.manager import start_new_kernel

CELL = '%noautoget\n%%\nfmt.Println("This cell", "runs")'  # which takes goimports, a compiler, and a folder to run it in

with tempfile.TemporaryFile() as said:
    try:
        manager, client = start_new_kernel(kernel_name="gonb-raw", startup_timeout=60, stdout=said, stderr=said)
        try:
            heard = []
            client.execute_interactive(CELL, timeout=60, output_hook=lambda message: heard.append(str(message["content"])))
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        if not any("This cell runs" in text for text in heard):
            sys.exit("\n".join(heard))
    except Exception as err:
        said.seek(0)
        sys.exit(f"{said.read().decode('utf-8', 'replace')}\n{type(err).__name__}: {err}")
