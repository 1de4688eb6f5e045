"""A downstream that counts: who called when, by the kernel's own clock. A process of its own, so that a busy test
does not blur the times; `Downstream` starts and asks it."""
import bisect
import collections
import http.client
import json
import selectors
import socket
import struct
import subprocess
import sys
import time

SO_TIMESTAMPNS = 35


class Connection:
    """One client: cuts its bytes into requests, and knows when the kernel got the last of them."""

    def __init__(self, sock):
        self.sock = sock
        self.data = b""
        self.at = 0.0

    def read(self):
        data, ancillary, _, _ = self.sock.recvmsg(1 << 16, 64)
        for level, kind, value in ancillary:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanos = struct.unpack("qq", value[:16])
                self.at = seconds + nanos / 1e9
        self.data += data
        return bool(data)

    def requests(self):
        while True:
            head, separator, rest = self.data.partition(b"\r\n\r\n")
            if not separator:
                return
            headers = {}
            lines = head.split(b"\r\n")
            for line in lines[1:]:
                name, _, value = line.partition(b":")
                headers[name.strip().lower().decode()] = value.strip().decode()
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self.data = rest[length:]
            method, path, _ = lines[0].decode().split(" ")
            yield method, path, headers, rest[:length]


class Counter:
    """The work of the process: answers as it was told, and remembers."""

    def __init__(self):
        self.rules = {"status": 200}
        self.calls = []  # (when, key)
        self.kept = []  # whole requests, the first few

    def answer(self, connection, method, path, headers, body):
        if path == "/report":
            return 200, {}, json.dumps(self.report()).encode(), 0
        if path == "/calls":
            return 200, {}, json.dumps(self.calls).encode(), 0
        if path == "/kept":
            return 200, {}, json.dumps(self.kept).encode(), 0
        if path == "/rules":
            self.rules = json.loads(body)
            return 200, {}, b"{}", 0
        key = headers.get("idempotency-key", "")
        self.calls.append((connection.at, key))
        if len(self.kept) < 200:
            self.kept.append({"method": method, "path": path, "headers": headers, "body": body.decode()})
        rule = {**self.rules, **self.rules.get("by_key", {}).get(key, {})}
        return rule.get("status", 200), rule.get("headers", {}), b"{}", rule.get("delay", 0)

    def report(self):
        times = sorted(at for at, _ in self.calls)
        count = collections.Counter(key for _, key in self.calls)
        busiest = 0
        for i, at in enumerate(times):
            busiest = max(busiest, bisect.bisect_left(times, at + 0.99) - i)  # 10 ms of tolerance
        return {"calls": len(times), "keys": len(count), "repeated": sorted(k for k, n in count.items() if n > 1),
                "most": max(count.values(), default=0), "busiest": busiest,
                "first": times[0] if times else 0, "last": times[-1] if times else 0}


def serve(port):
    counter = Counter()
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ, None)
    selector.register(sys.stdin, selectors.EVENT_READ, "end")
    print(listener.getsockname()[1], flush=True)
    waiting = []
    while True:
        now = time.monotonic()
        waiting.sort(key=lambda each: each[0])
        while waiting and waiting[0][0] <= now:
            _, connection, data = waiting.pop(0)
            send(connection, data)
        pause = waiting[0][0] - now if waiting else None
        for ready, _ in selector.select(pause):
            if ready.data == "end":
                return
            if ready.data is None:
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
                selector.register(sock, selectors.EVENT_READ, Connection(sock))
                continue
            connection = ready.data
            try:
                alive = connection.read()
            except OSError:
                alive = False
            if not alive:
                selector.unregister(connection.sock)
                connection.sock.close()
                continue
            for request in connection.requests():
                status, headers, body, delay = counter.answer(connection, *request)
                lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                data = f"HTTP/1.1 {status} X\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body
                waiting.append((time.monotonic() + delay, connection, data)) if delay else send(connection, data)


def send(connection, data):
    try:
        connection.sock.sendall(data)
    except OSError:
        pass  # gone meanwhile


class Downstream:
    """The process, as a test sees it."""

    def __init__(self, port=0):
        self.process = subprocess.Popen([sys.executable, __file__, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/work"

    def ask(self, path, value=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST" if value is not None else "GET", path,
                           body=json.dumps(value) if value is not None else None)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def rules(self, **rules):
        self.ask("/rules", rules)

    def report(self):
        return self.ask("/report")

    def calls(self):
        """All of them: (when, key)."""
        return self.ask("/calls")

    def kept(self):
        return self.ask("/kept")

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
