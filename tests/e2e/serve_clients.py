"""Who talks to a daemon: every client command, and plain HTTP as its description of the API says."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import time
import unittest

import openapi_check
from live_daemon import MUSTER, Daemon, wait_until


class Clients(unittest.TestCase):
    """Every command that talks to a daemon finds it by --state and by MUSTER_STATE, and answers in JSON if it is told to."""

    # What each prints: one or more lists or objects. Some need something to speak about first.
    COMMANDS = {
        "submit": (["--name", "one", "--", "/bin/sh", "-c", "echo first; printf second"], dict),
        "jobs": ([], list),
        "status": (["1"], dict),
        "wait": (["1"], list),
        "logs": (["1"], dict),
        "hold": (["2"], dict),
        "release": (["2"], dict),
        "cancel": (["2"], dict),
        "nodes": ([], list),
        "drain": (["node0"], dict),
        "top": (["--once"], dict),
        "explain": (["1"], dict),
        "what-if": ([], dict),
        "token create": ([], dict),
        "token list": ([], list),
        "token revoke": (["TOKEN"], dict),
        "drive": (["trace.csv", "--speed", "1000"], dict),
    }

    def clients(self):
        """Those that the command's own reference says take the address of a daemon."""
        found, name = [], None
        for line in subprocess.run([MUSTER, "reference", "commands"], capture_output=True, text=True, check=True).stdout.split("\n"):
            if line.startswith("## muster "):
                name = line.removeprefix("## muster ")
            elif line.startswith("| `--server`"):
                found.append(name)
        return found

    def answers(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text, found = done.stdout, []
        while text.strip():
            value, end = json.JSONDecoder().raw_decode(text)
            found.append(value)
            text = text[end:].lstrip()
        self.assertTrue(found)
        return found

    def test_all_of_them(self):
        # Tokens are made where the daemon runs, and nowhere else.
        distant = [command for command in self.COMMANDS if not command.startswith("token ")]
        self.assertEqual(sorted(distant), sorted(self.clients()))
        for by_variable in (False, True):
            with Daemon(gpus=1) as daemon:
                (daemon.work / "trace.csv").write_text("job_id,submit_s,duration_s,gpus\na,0,50,1\n")
                told = {}
                for command, (words, kind) in self.COMMANDS.items():
                    with self.subTest(command=command, by_variable=by_variable):
                        if command == "hold":
                            daemon.submit("--", "/bin/sleep", "1000")
                        if command == "token revoke":
                            words = [told["token list"][0][0]["name"]]
                        given = [MUSTER, *command.split(), "--json", *([] if by_variable else ["--state", daemon.state]), *words]
                        told[command] = self.answers(subprocess.run(
                            given, capture_output=True, text=True, timeout=60, cwd=daemon.work,
                            env={**os.environ, "MUSTER_STATE": str(daemon.state)} if by_variable else None))
                        self.assertEqual({type(one) for one in told[command]}, {kind}, told[command])
                fields = {"id", "name", "state", "gpus", "submitted", "started", "ended", "launches", "reason"}
                self.assertLessEqual(fields, told["jobs"][0][0].keys())
                [awaited] = told["wait"][0]
                self.assertLessEqual(fields, awaited.keys())
                self.assertEqual((awaited["id"], awaited["state"]), (1, "finished"))
                self.assertEqual(told["logs"], [{"launch": 1, "rank": 0, "line": "first"}, {"launch": 1, "rank": 0, "line": "second"}])

    def test_wait_for_all_lists_whom_it_waited_for(self):
        with Daemon(gpus=1) as daemon:
            before = daemon.submit("--", "/bin/true")
            daemon.run("wait", str(before))
            numbers = [daemon.submit_alone("last", None), daemon.submit("--", "/bin/false")]
            begun = time.monotonic()
            daemon.jobs()
            pause = 0.5 + 10 * (time.monotonic() - begun)  # so long a command needs to look at all jobs, several times over
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(daemon.told, "wait", "--timeout", "100")
                time.sleep(pause)
                daemon.let_end("last")
                waited = waiting.result()
            self.assertEqual([(job["id"], job["state"]) for job in waited], list(zip(numbers, ("finished", "failed"))))
            named = daemon.run("wait", "--json", str(numbers[1]), str(before), check=False)
            self.assertEqual(named.returncode, 1)
            self.assertEqual([job["id"] for job in json.loads(named.stdout)], [numbers[1], before])

    def test_wait_knows_what_will_not_come(self):
        with Daemon() as daemon:
            begun = time.monotonic()
            daemon.jobs()
            answer = time.monotonic() - begun  # how long a command takes here
            begun = time.monotonic()
            done = daemon.run("wait", "99", check=False)
            self.assertEqual((done.returncode, "there is no job 99" in done.stderr), (1, True), done.stderr)
            daemon.end()
            done = daemon.run("wait", "1", check=False)
            self.assertEqual((done.returncode, "no daemon answers" in done.stderr), (1, True), done.stderr)
            self.assertLess(time.monotonic() - begun, 4 + 10 * answer)

    def test_plain_http_works_too(self):
        if not shutil.which("curl"):
            self.skipTest("needs curl")
        with Daemon() as daemon:
            def curl(*words):
                return subprocess.run(["curl", "-sS", "--unix-socket", str(daemon.state / "api.sock"), *words],
                                      capture_output=True, text=True, check=True).stdout
            answer = json.loads(curl("-X", "POST", "-d", json.dumps({"command": ["/bin/true"]}),
                                     "http://localhost/v1/jobs"))
            daemon.run("wait", str(answer["id"]), "--timeout", "30")
            self.assertEqual(json.loads(curl(f"http://localhost/v1/jobs/{answer['id']}"))["state"], "finished")
            self.assertIn("muster_gpus 4", curl("http://localhost/metrics"))
            self.assertIn("/v1/jobs/{id}/cancel", json.loads(curl("http://localhost/openapi.json"))["paths"])
            self.assertIn("did you mean 'gpus'", curl("-d", '{"command":["x"],"gpu":1}', "http://localhost/v1/jobs"))
            self.assertEqual(curl("-o", "/dev/null", "-w", "%{http_code}", "http://localhost/v1/nothing"), "404")


class Description(unittest.TestCase):
    """GET /openapi.json is true of every route: bodies that it describes are taken, answers are as it says."""

    TEXT = {("GET", "/v1/jobs/{id}/logs"), ("GET", "/metrics")}
    # What is sent to each route, in this order; BODY, QUERY and who stands for {id}.
    CALLS = [
        ("POST", "/v1/jobs", {"command": [MUSTER, "trainer", "openapi.step", "1000", "0.05"], "name": "first", "estimate": 100,
                              "memory_gb": 0.5, "request": "once"}, 201),
        ("POST", "/v1/jobs", {"command": ["/bin/true"], "request": "once"}, 200),
        ("POST", "/v1/jobs", {"command": ["/bin/sleep", "100"], "estimate": 50, "deadline": 1e6, "time_limit": 1e6}, 201),
        ("POST", "/v1/jobs", {"command": ["/bin/true"], "gpuz": 1}, 400),
        ("GET", "/v1/status", None, 200),
        ("GET", "/v1/jobs", None, 200),
        ("GET", "/v1/jobs/{id}", None, 200),
        ("PATCH", "/v1/jobs/{id}", {"priority": 3, "estimate": 90}, 200),
        ("PATCH", "/v1/jobs/{id}", {"color": 3}, 409),
        ("GET", "/v1/jobs/{id}/logs", None, 200),
        ("GET", "/v1/jobs/{id}/explain", None, 200),
        ("POST", "/v1/what-if", None, 200),
        ("POST", "/v1/what-if", {"add_nodes": "1x1", "drain": ["node=node0"], "samples": 3}, 200),
        ("GET", "/v1/nodes", None, 200),
        ("POST", "/v1/jobs/{id}/hold", None, 200),
        ("POST", "/v1/jobs/{id}/release", None, 200),
        ("POST", "/v1/jobs/{id}/cancel", None, 200),
        ("POST", "/v1/nodes/{node}/drain", None, 200),
        ("POST", "/v1/nodes/{node}/undrain", None, 200),
        ("POST", "/v1/tokens", {"days": 1}, 201),
        ("GET", "/v1/tokens", None, 200),
        ("POST", "/v1/tokens/{token}/revoke", None, 200),
        ("GET", "/metrics", None, 200),
        ("GET", "/openapi.json", None, 200),
        ("POST", "/v1/reload", None, 200),
        ("POST", "/v1/shutdown", {"drian": True}, 400),
        ("POST", "/v1/shutdown", {"drain": 1}, 400),
        ("POST", "/v1/shutdown", {"drain": True}, 200),
    ]

    def test_every_route(self):
        with Daemon(gpus=1) as daemon:
            document = daemon.call("GET", "/openapi.json")[1]
            routes = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
            self.assertEqual(routes, {call[:2] for call in self.CALLS})
            for method, path, body, status in self.CALLS:
                with self.subTest(method=method, path=path, body=body):
                    if "{token}" in path:
                        path_called = path.replace("{token}", daemon.call("GET", "/v1/tokens")[1][0]["name"])
                    else:
                        path_called = path.replace("{id}", "2" if path.endswith("explain") else "1").replace("{node}", "node0")
                    if path == "/v1/status":  # with a launch and its progress to speak of
                        wait_until(lambda: daemon.job(1)["progress"], what="progress")
                    operation = document["paths"][path][method.lower()]
                    if body is not None:
                        described = operation["requestBody"]["content"]["application/json"]["schema"]
                        self.assertEqual(bool(openapi_check.problems(body, described, document)), status == 400 or "color" in body)
                    schema = openapi_check.answer_schema(document, method, path, status)
                    self.assertEqual(schema is None, (method, path) in self.TEXT)
                    if schema is None:
                        self.assertEqual(daemon.call(method, path_called)[0], status)
                        continue
                    told = daemon.call(method, path_called, body)
                    self.assertEqual(told[0], status, told)
                    self.assertEqual(openapi_check.problems(told[1], schema, document), [], told)
            self.assertEqual(daemon.process.wait(timeout=60), 0)

    def test_wrong_words_are_wrong(self):
        """The check can fail: a field that is missing, new, of another type, or null."""
        document = {"components": {"schemas": {"Done": {"type": "object", "properties": {"done": {"type": "boolean"}},
                                                        "required": ["done"]}}}}
        for value in ({}, {"done": 1}, {"done": None}, {"done": True, "more": 1}, []):
            self.assertTrue(openapi_check.problems(value, {"$ref": "#/components/schemas/Done"}, document), value)
        self.assertEqual(openapi_check.problems({"done": True}, {"$ref": "#/components/schemas/Done"}, document), [])

    def test_what_nobody_knows_is_refused_with_the_nearest(self):
        with Daemon(gpus=1) as daemon:
            for target, word in (("/v1/jobs?state=runing", "did you mean 'running'"), ("/v1/jobs?owner=nobdy", "nobdy"),
                                 ("/v1/jobs?limit=-5", "'limit'"), ("/v1/jobs?stat=running", "did you mean 'state'"),
                                 ("/v1/jobs?active=yes", "'active'"), ("/v1/status?verbose=1", "takes no parameters")):
                status, told = daemon.call("GET", target)
                self.assertEqual(status, 400, told)
                self.assertIn(word, told["error"])
            for words, word in ((("--in", "runing"), "did you mean 'running'"), (("--owner", "nobdy"), "no user 'nobdy'"),
                                (("--limit", "-5"), "--limit")):
                refused = daemon.run("jobs", *words, check=False)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(word, refused.stderr)
            self.assertEqual(daemon.call("GET", "/v1/jobs?owner=root&state=running&active=true&limit=3"), (200, []))
