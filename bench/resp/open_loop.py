"""Open-loop latency: requests leave on schedule whether or not answers have come, and a latency counts from when the
request was due, so that a stall of the server shows in every request it delays."""
import select
import socket
import time


def run(port, per_second, seconds, connections=8, command=None, answer=b"*5\r\n", tick_ms=0):
    """(p50, p99, p999) in microseconds, and how many were answered. `command` is what each request sends, or a function
    from its number to that; `answer` is how each answer begins.
    Without a tick it is busy towards the next due time and takes a core; with one, requests leave a tick late at most."""
    command = command or b"*5\r\n$11\r\nCL.THROTTLE\r\n$4\r\nopen\r\n$9\r\n999999999\r\n$1\r\n1\r\n$1\r\n1\r\n"
    socks = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
    poll = select.epoll()
    due = {}
    for sock in socks:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        poll.register(sock, select.EPOLLIN)
        due[sock.fileno()] = []
    by_fd = {sock.fileno(): sock for sock in socks}
    latencies = []
    interval = 1 / per_second
    start = time.perf_counter() + 0.05
    total = int(per_second * seconds)
    sent = 0
    while len(latencies) < total:
        now = time.perf_counter()
        while sent < total and start + sent * interval <= now:
            sock = socks[sent % connections]
            due[sock.fileno()].append(start + sent * interval)
            sock.send(command(sent) if callable(command) else command)
            sent += 1
        if now > start + seconds + 10:
            break
        for fd, _ in poll.poll(tick_ms / 1e3):
            answers = by_fd[fd].recv(65536).count(answer)
            now = time.perf_counter()
            latencies += [now - at for at in due[fd][:answers]]
            del due[fd][:answers]
    for sock in socks:
        sock.close()
    poll.close()
    latencies.sort()
    if not latencies:
        raise RuntimeError("no answers")
    at = lambda share: latencies[min(int(len(latencies) * share), len(latencies) - 1)] * 1e6
    return (at(0.5), at(0.99), at(0.999)), len(latencies)
