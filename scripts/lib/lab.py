"""JupyterLab, as scripts/lesson starts it: `lab.py OPTION…`. Runs in .venv.

It is JupyterLab's own program, but for two things: Ctrl-C while it loads ends
it without a stack, and the address is the last that it prints.
"""

import os
import signal
import sys


def stopped(number, frame):
    os.write(2, b"\nStopped before JupyterLab was open.\n")
    os._exit(130)  # at once: nothing is open yet, and imports print what they think of an exception


def start(argv):
    from jupyter_server.serverapp import ServerApp
    from jupyterlab.labapp import LabApp

    class Server(ServerApp):
        def start_app(self):
            address = self.connect_url

            def other(record):  # the server's own way to say the address
                return address not in record.getMessage()

            self.log.addFilter(other)
            super().start_app()
            self.log.removeFilter(other)

        def start_ioloop(self):
            if signal.getsignal(signal.SIGINT) is stopped:  # the server does not ask: no terminal
                signal.signal(signal.SIGINT, signal.default_int_handler)
            print("\nJupyterLab is open. Stop it with Ctrl-C, twice. Its address (each of these):\n"
                  f"    {self.connect_url}", flush=True)
            super().start_ioloop()

    LabApp.serverapp_class = Server
    LabApp.launch_instance(argv)


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stopped)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # scripts/lesson blocked it, so that none comes too early
    start(sys.argv[1:])
    # All is shut down. A request that was under way may have left a thread
    # behind, and Python would wait for it for ever.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
