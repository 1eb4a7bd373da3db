#!/usr/bin/env python3
"""The Python package, as pytest sees it: test_python.py FOLDER, in which linnet/ lies. pytest, numpy and pydantic come once, to build/clients-python."""
import fcntl
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PINS = {"pytest": "8.4.2", "numpy": "2.0.2", "pydantic": "2.11.9"}


def packages():
    """Their folder, or the reason why there is none."""
    folder = os.path.join(ROOT, "build", "clients-python")
    os.makedirs(folder, exist_ok=True)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all(os.path.isdir(f"{folder}/{name}-{version}.dist-info") for name, version in PINS.items()):
            pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--root-user-action", "ignore", "--upgrade", "--target", folder]
            done = subprocess.run(pip + [f"{name}=={version}" for name, version in PINS.items()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                return None, f"pytest, numpy and pydantic cannot be had from PyPI: {done.stdout.strip().splitlines()[-1:] or ['no pip']}"
    return folder, ""


def main():
    if sys.version_info < (3, 9):
        print("skipped: test_python: the package needs Python 3.9")
        return 77
    folder, why = packages()
    if not folder:
        print("skipped: test_python: " + why)
        return 77
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join((sys.argv[1], folder)), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "-s", os.path.join(ROOT, "tests", "python"), *sys.argv[2:]], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
