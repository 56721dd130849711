"""A daemon on a lab that is asked over its socket, as quickly as a client can."""

import http.client
import json
import os
import socket

from slurm_daemon import SlurmDaemon, wait_until


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Driven(SlurmDaemon):
    def ask(self, method, path, body=None):
        connection = UnixConnection(self.state / "api.sock")
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {text}")
        return text

    def post(self, command, **more):
        body = {"command": command, "working_directory": str(self.work), "environment": {"PATH": os.environ["PATH"]}, **more}
        return json.loads(self.ask("POST", "/v1/jobs", body))["id"]

    def all_jobs(self):
        return {job["id"]: job for job in json.loads(self.ask("GET", "/v1/jobs"))}

    def until_over(self, seconds):
        wait_until(lambda: self.ask("GET", "/v1/jobs?active=true").strip() == "[]", seconds, "the end of all jobs")
        return self.all_jobs()

    def log(self):
        return (self.base / "daemon.log").read_text()
