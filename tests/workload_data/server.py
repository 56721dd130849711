"""A local web server that misbehaves on request, for the tests of downloads.

Prints its port and serves one body under many paths until its input is closed:
  /good        the body            /ranges      the body, honouring Range requests
  /truncated   half of it, as if that were all
  /broken      half of it, then the connection closes (Content-Length promised all)
  /flaky       broken for the first request, with ranges afterwards
  /changed     other bytes of the same length    /long   the body and one byte more
  /slow        half of it, then nothing for a long time
  /moved       a redirect to /good               /to-file  a redirect to a file of this machine
  anything else: 404
"""

import http.server
import os
import re
import sys
import threading
import time

BODY = b"".join(b"line %d of the published file\n" % i for i in range(20000))
HALF = BODY[: len(BODY) // 2]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    flaky_requests = 0

    def answer(self, body, promised=None, status=200, headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def ranges(self):
        asked = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not asked:
            return self.answer(BODY)
        start = int(asked.group(1))
        if start >= len(BODY):
            return self.answer(b"", status=416)
        span = "bytes %d-%d/%d" % (start, len(BODY) - 1, len(BODY))
        return self.answer(BODY[start:], status=206, headers=[("Content-Range", span)])

    def do_GET(self):
        path = self.path
        if path == "/good":
            self.answer(BODY)
        elif path == "/ranges":
            self.ranges()
        elif path == "/truncated":
            self.answer(HALF)
        elif path == "/broken":
            self.answer(HALF, promised=len(BODY))
            self.close_connection = True
        elif path == "/flaky":
            Handler.flaky_requests += 1
            if Handler.flaky_requests == 1:
                self.answer(HALF, promised=len(BODY))
                self.close_connection = True
            else:
                self.ranges()
        elif path == "/changed":
            self.answer(BODY[::-1])
        elif path == "/long":
            self.answer(BODY + b"!")
        elif path == "/slow":
            self.answer(HALF, promised=len(BODY))
            time.sleep(60)
        elif path == "/moved":
            self.answer(b"", status=302, headers=[("Location", "/good")])
        elif path == "/to-file":
            self.answer(b"", status=302, headers=[("Location", "file:///etc/hostname")])
        else:
            self.answer(b"no such thing", status=404)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients of these tests hang up when they have seen enough


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
