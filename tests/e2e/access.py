"""Who gets in: TLS and tokens from the network, users of one machine, and those who try tricks."""

import http.client
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

from live_daemon import MUSTER, TRAINER, Daemon, wait_until

NOBODY = "nobody"


def make_certificates(folder):
    """An authority, and a certificate of this machine that it vouches for."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=muster",
            "-keyout", "key.pem", "-out", "request.pem")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2", "-extfile", "names",
            "-out", "cert.pem")


def knows_localhost():
    """Not so where nobody has written /etc/hosts yet."""
    try:
        socket.gethostbyname("localhost")
    except OSError:
        return False
    return True


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="muster-tls-")
        cls.files = pathlib.Path(cls.folder.name)
        make_certificates(cls.files)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def daemon(self):
        return Daemon("--listen", "127.0.0.1:0", "--tls-cert", str(self.files / "cert.pem"), "--tls-key",
                      str(self.files / "key.pem"))

    def port(self, daemon):
        return int(re.findall(r"https://127\.0\.0\.1:(\d+)", daemon.log())[-1])

    def ask(self, daemon, method, target, token=None, body=None):
        context = ssl.create_default_context(cafile=self.files / "ca.pem")
        connection = http.client.HTTPSConnection("127.0.0.1", self.port(daemon), context=context, timeout=30)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        connection.request(method, target, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        answer = response.status, response.read().decode()
        connection.close()
        return answer

    def client(self, daemon, *words, token, ca="ca.pem", host="127.0.0.1"):
        environment = {"PATH": os.environ["PATH"], "MUSTER_SERVER": f"https://{host}:{self.port(daemon)}"}
        if token is not None:
            environment["MUSTER_TOKEN"] = token
        if ca is not None:
            environment["MUSTER_CA"] = str(self.files / ca)
        return subprocess.run([MUSTER, *words], capture_output=True, text=True, cwd=daemon.work, env=environment, timeout=60)

    def token(self, daemon, *words):
        return daemon.run("token", "create", *words).stdout.strip()

    def test_a_job_goes_through_the_network(self):
        with self.daemon() as daemon:
            token = self.token(daemon)
            number = self.client(daemon, "submit", "--", "/bin/echo", "hello", token=token).stdout.strip()
            self.assertEqual(self.client(daemon, "wait", number, "--timeout", "30", token=token).returncode, 0)
            self.assertEqual(self.client(daemon, "logs", number, token=token).stdout, "hello\n")
            self.assertEqual(json.loads(self.client(daemon, "jobs", "--json", token=token).stdout)[0]["state"], "finished")
            if knows_localhost():
                named = self.client(daemon, "jobs", "--json", token=token, host="localhost")
                self.assertEqual(named.returncode, 0, named.stderr)
            (self.files / "token").write_text(token + "\n")
            by_file = subprocess.run([MUSTER, "jobs", "--server", f"https://127.0.0.1:{self.port(daemon)}", "--token-file",
                                      self.files / "token", "--ca", self.files / "ca.pem"], capture_output=True, text=True)
            self.assertIn("finished", by_file.stdout, by_file.stderr)
            if shutil.which("curl"):
                curl = subprocess.run(["curl", "-sS", "--cacert", self.files / "ca.pem", "-H", f"Authorization: Bearer {token}",
                                       f"https://127.0.0.1:{self.port(daemon)}/v1/status"], capture_output=True, text=True)
                self.assertIn('"gpus":4', curl.stdout, curl.stderr)

    def test_without_a_good_token_nobody_gets_in(self):
        with self.daemon() as daemon:
            for target in ("/v1/status", "/v1/jobs", "/metrics", "/openapi.json", "/nothing"):
                self.assertEqual(self.ask(daemon, "GET", target)[0], 401)
            token = self.token(daemon)
            mark, name, secret = token.split("_")
            self.assertEqual(self.ask(daemon, "GET", "/v1/status", token)[0], 200)
            wrong = ("", "x", f"{mark}_{name}_", f"{mark}_{name}_{secret[:-1]}", f"{mark}_{name}_{'0' * 64}",
                     f"{mark}_00000000_{secret}", token + "_x", token.upper(), "a" * 8000)
            for bad in wrong:
                self.assertEqual(self.ask(daemon, "GET", "/v1/status", bad)[0], 401, bad)
            self.assertEqual(self.ask(daemon, "POST", "/v1/jobs", None, {"command": ["/bin/true"]})[0], 401)
            self.assertEqual(daemon.jobs(), [])
            done = self.client(daemon, "jobs", token=None)
            self.assertEqual((done.returncode, "muster token create" in done.stderr), (1, True), done.stderr)

    def test_revoked_and_expired_tokens_are_refused(self):
        with self.daemon() as daemon:
            kept, revoked = self.token(daemon), self.token(daemon)
            brief = self.token(daemon, "--days", str(1.5 / 86400))
            self.assertEqual(self.ask(daemon, "GET", "/v1/jobs", brief)[0], 200)
            daemon.run("token", "revoke", revoked.split("_")[1])
            self.assertEqual(self.ask(daemon, "GET", "/v1/jobs", revoked)[0], 401)
            self.assertNotEqual(daemon.run("token", "revoke", revoked.split("_")[1], check=False).returncode, 0)
            wait_until(lambda: self.ask(daemon, "GET", "/v1/jobs", brief)[0] == 401, what="the end of the token")
            listed = {one["name"]: one for one in json.loads(daemon.run("token", "list", "--json").stdout)}
            self.assertEqual(set(listed), {kept.split("_")[1], brief.split("_")[1]})
            self.assertTrue(listed[brief.split("_")[1]]["expired"])
            daemon.kill()
            daemon.start()
            answers = [self.ask(daemon, "GET", "/v1/jobs", one)[0] for one in (kept, revoked, brief)]
            self.assertEqual(answers, [200, 401, 401])
            # The store can be read by a thief and is of no use to him.
            stored = b"".join(file.read_bytes() for file in daemon.state.glob("state.db*"))
            self.assertIn(kept.split("_")[1].encode(), stored)
            self.assertNotIn(kept.split("_")[2].encode(), stored)
            for file in daemon.state.glob("state.db*"):
                self.assertEqual(file.stat().st_mode & 0o077, 0, file)

    def test_a_token_begets_no_tokens(self):
        with self.daemon() as daemon:
            token = self.token(daemon, "--role", "operator")
            self.assertEqual(self.ask(daemon, "POST", "/v1/tokens", token, {})[0], 403)
            self.assertEqual(self.ask(daemon, "GET", "/v1/tokens", token)[0], 403)
            self.assertEqual(self.ask(daemon, "POST", f"/v1/tokens/{token.split('_')[1]}/revoke", token)[0], 403)
            self.assertNotEqual(daemon.run("token", "create", "--user", "no such user", check=False).returncode, 0)

    def test_plain_http_is_told_what_to_do(self):
        with self.daemon() as daemon:
            connection = http.client.HTTPConnection("127.0.0.1", self.port(daemon), timeout=30)
            connection.request("GET", "/v1/status", headers={"Authorization": f"Bearer {self.token(daemon)}"})
            response = connection.getresponse()
            self.assertEqual(response.status, 400)
            self.assertIn("https://", response.read().decode())
            done = subprocess.run([MUSTER, "jobs", "--server", f"http://127.0.0.1:{self.port(daemon)}"],
                                  capture_output=True, text=True, env=dict(os.environ, MUSTER_TOKEN="x"))
            self.assertEqual((done.returncode, "https://" in done.stderr), (1, True))

    def test_certificates_are_checked(self):
        with self.daemon() as daemon:
            token = self.token(daemon)
            for ca in (None, "other.pem"):
                done = self.client(daemon, "jobs", token=token, ca=ca)
                self.assertEqual((done.returncode, "certificate" in done.stderr), (1, True), done.stderr)
            # 127.0.0.2 is this machine, and not in the certificate; nobody listens there, so an address that leads here.
            other = self.client(daemon, "jobs", token=token, host="127.1")
            self.assertEqual((other.returncode, "certificate" in other.stderr), (1, True), other.stderr)
            with self.assertRaises(ssl.SSLError):
                warnings.simplefilter("ignore")
                old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                old.load_verify_locations(self.files / "ca.pem")
                old.maximum_version = ssl.TLSVersion.TLSv1_1
                with socket.create_connection(("127.0.0.1", self.port(daemon))) as raw:
                    old.wrap_socket(raw, server_hostname="127.0.0.1")

    def test_bytes_that_are_no_tls_do_no_harm(self):
        with self.daemon() as daemon:
            chance = random.Random(1)
            for i in range(100):
                with socket.create_connection(("127.0.0.1", self.port(daemon)), timeout=5) as raw:
                    first = b"\x16\x03\x01" if i % 2 else b""
                    raw.sendall(first + chance.randbytes(chance.randrange(1, 2000)))
            self.assertEqual(self.ask(daemon, "GET", "/v1/status", self.token(daemon))[0], 200)
            self.assertIsNone(daemon.process.poll())

    def test_never_without_tls(self):
        cert, key = str(self.files / "cert.pem"), str(self.files / "key.pem")
        open_key = self.files / "open.pem"
        shutil.copy(key, open_key)
        open_key.chmod(0o644)
        with tempfile.TemporaryDirectory() as state:
            for words, why in (((), "go together"), (("--tls-cert", cert), "go together"),
                               (("--tls-cert", key, "--tls-key", key), "certificate"),
                               (("--tls-cert", str(self.files / "ca.pem"), "--tls-key", key), "not the key"),
                               (("--tls-cert", cert, "--tls-key", str(open_key)), "chmod 600")):
                done = subprocess.run([MUSTER, "serve", "--state", state, "--fake-gpus", "1", "--listen", "127.0.0.1:0", *words],
                                      capture_output=True, text=True, timeout=30)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)


@unittest.skipUnless(os.geteuid() == 0, "only root can be several users")
class Users(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The command itself may be in a folder that only root gets into.
        cls.folder = tempfile.TemporaryDirectory(prefix="muster-users-")
        cls.muster = pathlib.Path(cls.folder.name)
        cls.muster.chmod(0o755)
        for program in (MUSTER, TRAINER, pathlib.Path(MUSTER).parent / "muster-keeper"):
            shutil.copy(program, cls.muster)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def daemon(self):
        daemon = Daemon("--all-users", gpus=4)
        daemon.base.chmod(0o711)
        self.place = daemon.base / "nobody"
        self.place.mkdir()
        os.chown(self.place, pwd.getpwnam(NOBODY).pw_uid, pwd.getpwnam(NOBODY).pw_gid)
        return daemon

    def as_nobody(self, daemon, *words, check=True):
        done = subprocess.run(["setpriv", f"--reuid={NOBODY}", "--regid=nogroup", "--init-groups", self.muster / "muster",
                               *words], capture_output=True, text=True, cwd=self.place, timeout=60,
                              env={"PATH": "/usr/bin:/bin", "MUSTER_STATE": str(daemon.state)})
        if check:
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}{daemon.log()}")
        return done

    def test_jobs_run_as_who_submits_them(self):
        with self.daemon() as daemon:
            number = self.as_nobody(daemon, "submit", "--", "/bin/sh", "-c", "id -u; id -G; umask; touch made; cat /etc/shadow"
                                    ).stdout.strip()
            self.as_nobody(daemon, "wait", number, "--timeout", "30", check=False)
            me = pwd.getpwnam(NOBODY)
            lines = self.as_nobody(daemon, "logs", number).stdout.split("\n")
            self.assertEqual(lines[:3], [str(me.pw_uid), " ".join(map(str, os.getgrouplist(NOBODY, me.pw_gid))), "0022"])
            self.assertIn("Permission denied", lines[3])
            self.assertEqual((self.place / "made").stat().st_uid, me.pw_uid)
            job = daemon.job(int(number))
            self.assertEqual((job["owner"], job["state"]), (NOBODY, "failed"))

    def test_the_job_client_works_for_others_and_a_stop_reaches_them(self):
        with self.daemon() as daemon:
            number = self.as_nobody(daemon, "submit", "--", self.muster / "trainer", "steps", "100000", "20").stdout.strip()
            daemon.until_launched(int(number))
            wait_until(lambda: (daemon.job(int(number))["progress"] or {}).get("step", 0) > 0, what="progress")
            self.as_nobody(daemon, "hold", number)
            wait_until(lambda: not daemon.marked(), what="its stop")
            wait_until(lambda: daemon.job(int(number))["runs"][0]["outcome"] == "stopped", what="word of it")
            self.assertGreater(int((self.place / "steps").read_text()), 0)
            runaway = self.as_nobody(daemon, "submit", "--", "/bin/sh", "-c", "trap '' TERM; setsid sleep 1000 & sleep 1000"
                                     ).stdout.strip()
            daemon.until_launched(int(runaway))
            os.kill(daemon.keepers()[-1], 9)
            self.as_nobody(daemon, "cancel", runaway)
            # On busy cores it has been started again before it is cancelled: then it has its 30 s to leave.
            wait_until(lambda: not daemon.marked() and not daemon.keepers(), 60, what="the end of all processes")

    def test_everybody_sees_and_changes_his_own(self):
        with self.daemon() as daemon:
            mine = str(daemon.submit("--name", "secret", "--", "/bin/sh", "-c", "echo secret; sleep 1000"))
            daemon.until_launched(int(mine))
            his = self.as_nobody(daemon, "submit", "--gpus", "4", "--", "/bin/true").stdout.strip()
            self.assertEqual([job["id"] for job in json.loads(self.as_nobody(daemon, "jobs", "--json").stdout)], [int(his)])
            self.assertEqual(len(daemon.jobs()), 2)
            for words in (("status", mine), ("logs", mine), ("cancel", mine), ("hold", mine), ("release", mine),
                          ("explain", mine), ("wait", mine, "--timeout", "1")):
                refused = self.as_nobody(daemon, *words, check=False)
                self.assertEqual(refused.returncode, 1, words)
                self.assertNotIn("secret", refused.stdout + refused.stderr)
                if words[0] != "wait":
                    self.assertIn(f"there is no job {mine}", refused.stderr)
            for words in (("drain", "node0"), ("token", "create", "--role", "operator"), ("token", "create", "--user", "root")):
                self.assertIn("not an operator", self.as_nobody(daemon, *words, check=False).stderr)
            nodes = json.loads(self.as_nobody(daemon, "nodes", "--json").stdout)
            self.assertEqual(nodes[0]["jobs"][0], [None])
            self.assertIn("?", self.as_nobody(daemon, "nodes").stdout)
            story = json.loads(self.as_nobody(daemon, "explain", "--json", his).stdout)
            self.assertEqual((story["jobs_before"], story["first_before"]), (0, []))
            self.assertIn(f"job {his} is", self.as_nobody(daemon, "explain", his).stdout)
            # Behind one of somebody else that waits, too.
            secret = str(daemon.submit("--gpus", "4", "--name", "secret", "--", "/bin/true"))
            behind = self.as_nobody(daemon, "submit", "--gpus", "4", "--", "/bin/true").stdout.strip()
            told = self.as_nobody(daemon, "explain", behind)
            self.assertIn(f"2 of those that wait will start before it: {his} …\n", told.stdout)
            self.assertNotIn("secret", told.stdout)
            daemon.run("cancel", his)
            told = self.as_nobody(daemon, "explain", behind)
            self.assertIn("1 of those that wait will start before it\n", told.stdout)
            self.assertEqual(daemon.job(int(mine))["state"], "running")
            daemon.run("cancel", mine, secret, behind)  # an operator may

    def test_nothing_can_be_read_or_reached_around_the_api(self):
        with self.daemon() as daemon:
            number = daemon.submit("--env", "SECRET=1", "--", "/bin/sleep", "1000")
            daemon.until_launched(number)
            run = daemon.state / "runs" / f"{number}.1"
            for words in (["ls", daemon.state], ["ls", daemon.state / "runs"], ["ls", run], ["cat", daemon.state / "state.db"],
                          ["cat", run / "order.json"], ["cat", run / "rank-0.log"], ["cat", run / "exit.json.new"]):
                self.assertNotEqual(subprocess.run(["setpriv", f"--reuid={NOBODY}", "--regid=nogroup", "--clear-groups", *words],
                                                   capture_output=True).returncode, 0, words)
            for name in ("control.sock", "job.sock"):
                script = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(run / name)!r}); print(s.recv(9))"
                done = subprocess.run(["setpriv", f"--reuid={NOBODY}", "--regid=nogroup", "--clear-groups", "python3", "-c", script],
                                      capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0, done.stdout)

    def test_paths_and_environments_open_no_door(self):
        with self.daemon() as daemon:
            hidden = daemon.base / "hidden"
            hidden.mkdir(mode=0o700)
            shutil.copy("/bin/true", hidden / "program")
            said = set()
            for program in (hidden / "program", hidden / "missing"):
                number = int(self.as_nobody(daemon, "submit", "--", program).stdout)
                runs = wait_until(lambda: [run for run in daemon.job(number)["runs"] if run["detail"]], what="a try")
                said.add(runs[0]["detail"].replace(str(program), "X"))
                daemon.run("cancel", str(number))
            self.assertEqual(len(said), 1, "what root can see shows in an error")
            inside = int(self.as_nobody(daemon, "submit", "--workdir", hidden, "--", "/bin/true").stdout)
            wait_until(lambda: any("ermission denied" in run["detail"] for run in daemon.job(inside)["runs"]), what="a refusal")
            daemon.run("cancel", str(inside))
            forged = self.as_nobody(daemon, "submit", "--env", "MUSTER_JOB=1", "--env", "CUDA_VISIBLE_DEVICES=0,1,2,3", "--env",
                                    "MUSTER_RUN_FOLDER=/", "--", "/bin/sh", "-c", "echo $MUSTER_JOB $CUDA_VISIBLE_DEVICES").stdout.strip()
            self.as_nobody(daemon, "wait", forged, "--timeout", "30")
            self.assertEqual(self.as_nobody(daemon, "logs", forged).stdout, f"{forged} 0\n")

    def test_a_daemon_without_root_runs_its_own_jobs_alone(self):
        daemon = self.daemon()
        daemon.options = ["--fake-gpus", "1"]
        with tempfile.TemporaryDirectory(dir=self.place) as state:
            pathlib.Path(state).chmod(0o777)
            nobody = ["setpriv", f"--reuid={NOBODY}", "--regid=nogroup", "--clear-groups"]
            refused = subprocess.run([*nobody, self.muster / "muster", "serve", "--state", f"{state}/s", "--fake-gpus", "1",
                                      "--all-users"], capture_output=True, text=True, timeout=30)
            self.assertIn("needs root", refused.stderr)
            with open(daemon.base / "daemon.log", "w") as log:
                process = subprocess.Popen([*nobody, self.muster / "muster", "serve", "--state", f"{state}/s", "--fake-gpus", "1"],
                                           stdout=log, stderr=log)
            try:
                daemon.state, daemon.process = pathlib.Path(state) / "s", process
                wait_until(daemon.answers, what="an answer")
                # Root gets in everywhere, and is refused with the reason.
                done = daemon.run("submit", "--", "/bin/true", check=False)
                self.assertIn("run it as root", done.stderr)
                own = self.as_nobody(daemon, "submit", "--", "/bin/true").stdout.strip()
                self.as_nobody(daemon, "wait", own, "--timeout", "30")
            finally:
                process.terminate()
                process.wait()
        daemon.folder.cleanup()


if __name__ == "__main__":
    unittest.main(verbosity=2)
