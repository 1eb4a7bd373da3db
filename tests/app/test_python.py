#!/usr/bin/env python3
"""The Python package, as pytest sees it: test_python.py FOLDER, in which linnet/ lies. pytest, numpy and pydantic come once, to build/clients-python."""
import os
import subprocess
import sys

from test_server_clients import packages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINS = {"pytest": "8.4.2", "numpy": "2.0.2", "pydantic": "2.11.9"}


def main():
    if sys.version_info < (3, 9):
        print("skipped: test_python: the package needs Python 3.9")
        return 77
    folder, why = packages("clients-python", PINS)
    if not folder:
        print("skipped: test_python: " + why)
        return 77
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join((sys.argv[1], folder)), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "-s", os.path.join(ROOT, "tests", "python"), *sys.argv[2:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
