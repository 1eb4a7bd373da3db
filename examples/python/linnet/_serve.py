"""linnet-server beside this file, as a process."""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time

from ._errors import Error
from ._library import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

EXECUTABLE = os.path.join(FOLDER, "linnet-server")


class Server:
    """A server that runs: url, process, stop(). It ends with the with block, and at the latest with its own process."""

    def __init__(self, process: subprocess.Popen, url: str):
        self.process, self.url = process, url

    def stop(self, seconds: float = 10) -> int:
        """Asks it to end, which lets answers that are on their way end first; kills it after so many seconds. Its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __del__(self):
        if self.process.poll() is None:
            self.process.terminate()


def serve(model: str | os.PathLike | Mapping[str, str | os.PathLike], *, host: str = "127.0.0.1", port: int | None = None, wait: float = 600, **options: Any) -> Server:
    """Runs `linnet serve`: OpenAI's and Anthropic's APIs on http://host:port/v1.

    model: a path, or {name: path} for several. port: None: a free one. wait: seconds until it must answer. options: the command line's, with _ for -: parallel=4, api_key="k", cache_dir="d",
    grammars=64; True is an option without a value, a list one that comes more than once. ImportError where this package was built without the server."""
    if not os.access(EXECUTABLE, os.X_OK):
        raise ImportError("linnet: this package was built without the server: install libmicrohttpd-dev, then pip install --force-reinstall it from source")
    command = [EXECUTABLE]
    for one in ([os.fspath(model)] if not isinstance(model, dict) else [f"{name}={os.fspath(path)}" for name, path in model.items()]):
        command += ["--model", one]
    command += ["--host", host, "--port", str(port or 0)]
    for name, value in options.items():
        flag = ("--" if len(name) > 1 else "-") + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                command.append(flag)
            elif one is not None and one is not False:
                command += [flag, str(one)]
    said = tempfile.TemporaryFile(mode="a+", errors="replace")  # both ends share its offset: what is written goes to its end
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    until = time.monotonic() + wait
    while True:
        ended = process.poll() is not None  # before what it said is read
        said.seek(0)
        text = said.read()
        if found := re.search(r"^listening at (http://\S+?)/?$", text, re.MULTILINE):
            url = found[1]
            break
        if ended:
            raise Error(f"linnet-server ended with status {process.returncode}: {text.strip()}")
        if time.monotonic() > until:
            process.kill()
            process.wait()
            raise Error(f"linnet-server has not answered for {wait} seconds")
        time.sleep(0.02)
    return Server(process, url)
