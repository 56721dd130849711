"""The process in which a live daemon's policies run: `python -m muster._host`, started by `muster serve`.

It speaks with the daemon over file descriptor 3 (src/daemon/outside/wire.h has the messages), asks it for the columns
that a policy looks at, and ends with it. What policies print goes where the daemon's own words go.
"""

import ctypes
import json
import os
import signal
import socket
import struct
import sys
import traceback

import numpy as np

from . import _core
from ._loading import Policies

_JOB_COLUMNS = [row[0] for row in _core.job_view_columns()]
_JOB_TEXTS = _core.job_view_texts()
_NODE_COLUMNS = [row[0] for row in _core.node_columns()]
_NODE_TEXTS = _core.node_texts()
_PR_SET_PDEATHSIG = 1


class Line:
    """The connection to the daemon, message by message."""

    def __init__(self, connection):
        self._connection = connection

    def send(self, kind, payload=b""):
        self._connection.sendall(struct.pack("<IB", len(payload) + 1, ord(kind)) + payload)

    def receive(self):
        length, = struct.unpack("<I", self._exactly(4))
        message = self._exactly(length)
        return chr(message[0]), message[1:]

    def _exactly(self, count):
        parts = []
        while count:
            part = self._connection.recv(min(count, 1 << 20))
            if not part:
                os._exit(0)  # the daemon is gone, whatever this process is about
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def get(self, name):
        """What the daemon has under that name: bytes of numbers, or a list of texts."""
        self.send("G", name.encode())
        _, value = self.receive()
        return json.loads(value[1:]) if value[:1] == b"t" else value[1:]


class _View:
    """What a policy looks at, for as long as it is being asked."""

    def __init__(self, line, question):
        self._line, self.question = line, question

    def close(self):
        self._line = None

    def get(self, name):
        if self._line is None:
            raise _core.Error("this view is of an earlier decision: read columns while the policy is being asked, and "
                              "keep the arrays instead of the view")
        return self._line.get(name)


class _Jobs(_View):
    def __len__(self):
        return self.question["jobs"]

    def column(self, number):
        return self.get("jobs." + _JOB_COLUMNS[number])

    def texts(self, number):
        return self.get("jobs." + _JOB_TEXTS[number])

    def speeds(self):
        return self.get("jobs.speeds")

    def metric(self, name):
        return self.get("jobs.metric." + name)


class _Cluster(_View):
    def node_column(self, number):
        return self.get("cluster.nodes." + _NODE_COLUMNS[number])

    def node_texts(self, number):
        return self.get("cluster.nodes." + _NODE_TEXTS[number])

    def types(self):
        return self.get("cluster.types")

    def capacity(self):
        return self.get("cluster.capacity")

    @property
    def free_gpus(self):
        return self.question["free"]

    @property
    def usable_gpus(self):
        return self.question["usable"]

    @property
    def demanded_gpus(self):
        return self.question["demanded"]


class Host:
    """The policies of this process, by the numbers that the daemon gives them."""

    def __init__(self, line):
        self._line = line
        self._policies = {}
        self._loader = Policies()

    def serve(self):
        self._line.send("H", json.dumps({"version": _core.version}).encode())
        while True:
            kind, payload = self._line.receive()
            message = json.loads(payload)
            try:
                {"M": self._make, "C": self._copy, "D": self._drop, "Q": self._ask}[kind](message)
            except _core.Error as error:
                self._line.send("E", str(error).encode())
            except BaseException:  # a policy may raise whatever it likes
                self._line.send("E", traceback.format_exc().encode())

    def _make(self, message):
        made = self._loader.resolve(message["kind"], message["name"], message["parameters"])
        self._policies[message["instance"]] = made
        self._line.send("R", json.dumps(made.declared()).encode())

    def _copy(self, message):
        self._policies[message["instance"]] = self._policies[message["of"]].copy()
        self._line.send("R", b"{}")

    def _drop(self, message):
        self._policies.pop(message["instance"], None)

    def _ask(self, question):
        policy = self._policies[question["instance"]]
        if policy.form == "fractions_by_type":
            answer = policy.call(*(self._line.get("problem." + name) for name in ("rates", "jobs", "capacity", "price")),
                                 question["now"])
        else:
            jobs, cluster = _Jobs(self._line, question), _Cluster(self._line, question)
            try:
                more = (question["gpus"],) if policy.form == "find" else ()
                answer = policy.call(jobs, cluster, question["now"], *more)
            finally:
                jobs.close()
                cluster.close()
        if answer is None:
            self._line.send("O")
        elif isinstance(answer, str):
            self._line.send("W", answer.encode())
        else:
            self._line.send("N" if answer.dtype == np.float64 else "I", answer.tobytes())


def main():
    # Ctrl-C on the daemon's terminal is for the daemon; and this process ends with it, also when it hangs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        connection = socket.socket(fileno=3)
    except OSError:
        sys.exit("this is the part of `muster serve` that runs policies written in Python: it is not started by hand")
    os.set_inheritable(3, False)
    Host(Line(connection)).serve()


if __name__ == "__main__":
    main()
