"""Tests of what we know of JupyterLab against JupyterLab itself. Runs in .venv."""

import unittest

from jupyter_server.serverapp import ServerApp
from jupyterlab.labapp import LabApp

import lesson


class Options(unittest.TestCase):
    def test_known_options_are_those_of_jupyterlab(self):
        server = ServerApp()
        self.assertEqual(lesson.LAB_FLAGS, {*LabApp.flags, *server.flags})
        self.assertEqual(lesson.LAB_OPTIONS, {*LabApp.aliases, *server.aliases})


if __name__ == "__main__":
    unittest.main()
