"""A small server that speaks the keeper's side of the job protocol, for tests: it does what it is told and remembers
what it hears."""

import os
import socket
import threading


class FakeKeeper:
    def __init__(self, folder, token="secret"):
        self.path = os.path.join(folder, "job.sock")
        self.token = token
        self.lines = {}  # by rank
        self._connections = {}
        self._changed = threading.Condition()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        here = os.getcwd()
        os.chdir(folder)  # so that the name may be long
        self._listener.bind("job.sock")
        os.chdir(here)
        self._listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        stream = connection.makefile("r", newline="\n")
        word, token, rank = stream.readline().split()
        if word != "hello" or token != self.token:
            connection.sendall(b"refused expected: hello TOKEN RANK\n")
            connection.close()
            return
        connection.sendall(b"welcome 7 3\n")
        with self._changed:
            self._connections[int(rank)] = connection
            self.lines[int(rank)] = []
            self._changed.notify_all()
        for line in stream:
            with self._changed:
                self.lines[int(rank)].append(line.rstrip("\n"))
                self._changed.notify_all()

    def say(self, line, rank=None):
        for number, connection in self._connections.items():
            if rank in (None, number):
                connection.sendall(line.encode() + b"\n")

    def wait_for(self, condition, seconds=10):
        """Until condition(lines by rank) holds; the lines."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.lines), seconds):
                raise AssertionError("heard only: %r" % self.lines)
            return {rank: list(lines) for rank, lines in self.lines.items()}

    def agree(self):
        """Asks all ranks where they are and tells them the last step."""
        self.wait_for(lambda lines: lines)  # it may not have served anybody yet
        self.say("where")

        def answers(lines):
            return {rank: [l for l in some if l.startswith("at ")] for rank, some in lines.items()}

        lines = self.wait_for(lambda lines: all(answers(lines).values()))
        last = 1 + max(int(some[0].split()[1]) for some in answers(lines).values())
        self.say("last %d" % last)
        return last

    def hang_up(self):
        for connection in self._connections.values():
            connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.close()
        for connection in self._connections.values():
            connection.close()
