"""Many clients of throttle at once, on a few keys, over some daemons; and a TCP proxy that ill-treats a connection."""
import asyncio
import collections
import json
import select
import socket
import threading
import time

Answer = collections.namedtuple("Answer", "key status sent received")


class Clients(threading.Thread):
    """`count` connections that ask without a pause, each for one key at one daemon, until they are ended."""

    def __init__(self, daemons, keys, count, pause=0.0):
        super().__init__(daemon=True)
        self.daemons, self.keys, self.count, self.pause = daemons, keys, count, pause
        self.answers = []
        self.problem = None
        self._ending = False

    def run(self):
        try:
            asyncio.run(self._all())
        except Exception as problem:  # the test fails on it
            self.problem = problem

    def end(self):
        self._ending = True
        self.join(60)
        assert not self.is_alive()
        if self.problem:
            raise self.problem
        return self.answers

    async def _all(self):
        await asyncio.gather(*(self._one(self.daemons[i % len(self.daemons)], self.keys[i % len(self.keys)])
                               for i in range(self.count)))

    async def _one(self, daemon, key):
        body = json.dumps({"key": key}).encode()
        request = (f"POST /api/v1/throttle/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        reader, writer = await asyncio.open_connection(daemon.address, daemon.port)
        try:
            while not self._ending:
                sent = time.monotonic()
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.answers.append(Answer(key, int(head[9:12]), sent, time.monotonic()))
                if self.pause:
                    await asyncio.sleep(self.pause)
        finally:
            writer.close()


def admitted(answers, key=None, between=None):
    return sum(1 for a in answers if a.status == 200 and key in (None, a.key)
               and (between is None or between[0] <= a.received < between[1]))


class Proxy:
    """Forwards connections to a port. `mode`: pass, stall (takes bytes, forwards none), cut (closes at once)."""

    def __init__(self, port):
        self._target = port
        self.mode = "pass"
        self.delay = 0.0  # seconds before bytes of the server go on
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._ending = False
        self._pairs = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Ends all connections there are."""
        for pair in list(self._pairs):
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self._ending = True
        self._listener.close()
        self.cut()

    def _accept(self):
        while not self._ending:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        if self.mode == "cut":
            client.close()
            return
        try:
            server = socket.create_connection(("127.0.0.1", self._target), 5)
        except OSError:
            client.close()
            return
        pair = (client, server)
        self._pairs.add(pair)
        try:
            while not self._ending:
                ready, _, _ = select.select(pair, [], [], 0.2)
                for end in ready:
                    data = end.recv(65536)
                    if not data:
                        return
                    if self.mode == "stall":
                        continue
                    if end is server and self.delay:
                        time.sleep(self.delay)  # the way back takes that long
                    (server if end is client else client).sendall(data)
        except OSError:
            pass
        finally:
            self._pairs.discard(pair)
            client.close()
            server.close()
