"""The connection to the scheduler: a socket of the launch's keeper, or files in the launch's folder where there is no keeper
(Slurm), and a thread that listens.

The thread answers for the training loop, so that a rank that waits for the others inside a collective operation answers,
too. If the connection breaks the job goes on: the keeper is dying, and ends the job with it.
"""

import math
import os
import re
import select
import socket
import threading
import time

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,64}\Z")
_LONGEST_PATH = 107  # of a Unix socket
_REPORT_SECONDS = 1.0
_LOOK_SECONDS = 0.5


class _Socket:
    def __init__(self, path):
        self._socket = _open(path)

    def send(self, data):
        self._socket.sendall(data)

    def receive(self, seconds):
        """What has come within that time; None: nothing, b"": nobody is there any more."""
        ready, _, _ = select.select([self._socket], [], [], seconds)
        return self._socket.recv(4096) if ready else None

    def close(self):
        self._socket.close()


class _Files:
    """`words` is what the ranks are told, `rank-N.words` what rank N says. Both only grow, and are opened anew each time: that
    is when a network file system looks whether others have changed them."""

    def __init__(self, folder, rank):
        self._words = os.path.join(folder, "words")
        self._said = os.path.join(folder, "rank-%d.words" % rank)
        self._read = 0
        open(self._words, "rb").close()

    def send(self, data):
        with open(self._said, "ab", buffering=0) as file:
            file.write(data)

    def receive(self, seconds):
        time.sleep(min(seconds, _LOOK_SECONDS))
        try:
            with open(self._words, "rb") as file:
                file.seek(self._read)
                data = file.read(4096)
        except OSError:
            return None  # a file server that is away for a moment
        self._read += len(data)
        return data or None

    def close(self):
        pass


class Client:
    @classmethod
    def connect(cls, path, token, rank):
        return cls._begin(path, token, rank, lambda: _Socket(path))

    @classmethod
    def in_folder(cls, folder, rank):
        return cls._begin(folder, "-", rank, lambda: _Files(folder, rank))

    @classmethod
    def _begin(cls, path, token, rank, connection):
        """None, with a line on standard error, if nobody answers: the job runs without a scheduler then."""
        try:
            client = cls(connection(), rank)
            client._connection.send(("hello %s %d\n" % (token, rank)).encode())
            client._thread.start()
            return client
        except OSError as problem:
            os.write(2, ("muster_job: %s: %s; going on without a scheduler\n" % (path, problem)).encode())
            return None

    def __init__(self, connection, rank):
        self._connection = connection
        self._rank = rank
        self._lock = threading.Condition()
        self._sending = threading.Lock()
        self._completed = 0
        self._total = 0
        self._sent_step = None
        self._metrics = {}
        self._limit = None  # do not begin a step beyond this one until the last is known
        self._last = None  # leave after this one
        self._lease_end = None
        self._renew_at = None
        self._open = True
        self._thread = threading.Thread(target=self._listen, name="muster_job", daemon=True)

    # For the training loop.

    def begin(self, completed, total):
        with self._lock:
            self._completed = completed
            self._total = total or 0
        self.say("step %d %d" % (completed, total or 0))

    def completed(self, completed):
        with self._lock:
            self._completed = completed

    def must_leave(self):
        """Whether the job leaves now; waits where the others have not agreed yet and this rank must not go on."""
        with self._lock:
            while self._open and self._last is None and self._limit is not None and self._completed >= self._limit:
                self._lock.wait()
            return self._last is not None and self._completed >= self._last

    def report(self, metrics):
        with self._lock:
            for name, value in metrics.items():
                if not _NAME.match(name):
                    raise ValueError("muster_job: %r cannot be the name of a metric" % name)
                self._metrics[name] = float(value)

    def lease_left(self):
        with self._lock:
            return None if self._lease_end is None else max(0.0, self._lease_end - time.monotonic())

    def goodbye(self, word, completed):
        """Tells all there is to tell, and that this rank goes."""
        self._flush()
        self.say("%s %d" % (word, completed))

    def say(self, line):
        try:
            with self._sending:
                self._connection.send(line.encode() + b"\n")
        except OSError:
            pass  # the listening thread sees it, too

    # For the thread.

    def _listen(self):
        buffer = b""
        next_report = time.monotonic() + _REPORT_SECONDS
        while True:
            try:
                data = self._connection.receive(self._patience(next_report))
            except OSError:
                data = b""
            if data == b"":
                break
            if data:
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    self._hear(line.decode("utf-8", "replace").split(" "))
            now = time.monotonic()
            if now >= next_report:
                next_report = now + _REPORT_SECONDS
                self._flush()
            self._renew(now)
        with self._lock:
            self._open = False
            self._lock.notify_all()
        self._connection.close()

    def _patience(self, next_report):
        with self._lock:
            until = next_report if self._renew_at is None else min(next_report, self._renew_at)
        return max(0.0, until - time.monotonic())

    def _hear(self, words):
        if words[0] == "lease":
            self._lease(words[1])
        elif words[0] == "where":
            with self._lock:
                completed = self._completed
                self._limit = completed + 1
            self.say("at %d" % completed)
        elif words[0] == "last":
            with self._lock:
                self._last = int(words[1])
                self._lock.notify_all()
        elif words[0] == "refused":
            os.write(2, ("muster_job: the keeper refused: %s\n" % " ".join(words[1:])).encode())
        # Words of later versions mean nothing to this one.

    def _lease(self, text):
        with self._lock:
            if text == "none":
                self._lease_end = self._renew_at = None
                return
            now = time.monotonic()
            asked = self._renew_at is None and self._lease_end is not None
            end = now + float(text)
            # The answer to our own question may be the same lease again: ask once per lease.
            if asked and end <= self._lease_end + 0.5:
                return
            self._lease_end = end
            self._renew_at = now + 0.75 * float(text)

    def _renew(self, now):
        with self._lock:
            if self._renew_at is None or now < self._renew_at:
                return
            self._renew_at = None
        if self._rank == 0:  # one question per launch is enough
            self.say("renew")

    def _flush(self):
        with self._lock:
            step, total = self._completed, self._total
            metrics, self._metrics = self._metrics, {}
            news = step != self._sent_step
            self._sent_step = step
        if news:
            self.say("step %d %d" % (step, total))
        for name, value in metrics.items():
            if math.isfinite(value):
                self.say("metric %s %r" % (name, value))


def _open(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if len(os.fsencode(path)) <= _LONGEST_PATH:
            connection.connect(path)
        else:  # through the folder, which may have a long name
            folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
            try:
                connection.connect("/proc/self/fd/%d/%s" % (folder, os.path.basename(path)))
            finally:
                os.close(folder)
    except OSError:
        connection.close()
        raise
    return connection
