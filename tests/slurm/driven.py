"""A daemon on a lab that is asked over its socket, as quickly as a client can."""

import os

from slurm_daemon import SlurmDaemon, wait_until


class Driven(SlurmDaemon):
    def ask(self, method, target, body=None):
        status, answer = self.call(method, target, body)
        if status >= 300:
            raise AssertionError(f"{method} {target}: {status} {answer}")
        return answer

    def post(self, command, **more):
        body = {"command": command, "working_directory": str(self.work), "environment": {"PATH": os.environ["PATH"]}, **more}
        return self.ask("POST", "/v1/jobs", body)["id"]

    def all_jobs(self):
        return {job["id"]: job for job in self.ask("GET", "/v1/jobs")}

    def by_name(self, name):
        return next((job for job in self.all_jobs().values() if job["name"] == name), None)

    def until_over(self, seconds):
        wait_until(lambda: self.ask("GET", "/v1/jobs?active=true") == [], seconds, "the end of all jobs")
        return self.all_jobs()
