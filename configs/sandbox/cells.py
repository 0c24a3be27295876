# Processes for calls, made before they are needed. The first process (the keeper) forks cells; a cell is a warden and
# the process of one call. Wardens wait on the same socket: the server puts a connection into it, one of them takes it.
# The warden bounds the call: its time, its output, what it leaves behind. Nothing of a call outlives its warden, and
# nothing of this the server: whoever finds its socket closed ends.
import ctypes
import gc
import os
import resource
import select
import shutil
import signal
import socket
import tempfile
import time

CONTROL = 4  # descriptor of the socket that brings connections
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
BREATH = 0.004  # seconds that most calls take: while there are others, the next cell is not made in their way
GRACE = 2  # seconds between asking a call to end and killing it


def die_with(parent):
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans():
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


# -- the process of the call -----------------------------------------------------------------------

def bound(limits):
    for what, most in (
        (resource.RLIMIT_CPU, limits["seconds"] + GRACE),
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["files"]),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def work(request):
    bound(request["limits"])
    os.chdir(request["folder"])
    os.environ.update({k: v for k, v in request.get("environment", {}).items() if k and "=" not in k and "\0" not in k + v})
    os.environ["TMPDIR"] = tempfile.tempdir = request["folder"]
    return {"run": run, "schema": schema}[request["do"]](request)


def rehearse():
    """A call that does nothing: what calls touch is touched before there is one to wait for it."""
    answer = run({"source": "def nothing(x: int):\n    return x\n", "name": "nothing", "arguments": {"x": 1}})
    json.loads(text_of(answer))


def call_process(request_fd, out_fd, err_fd, result_fd, warden):
    os.setsid()
    die_with(warden)
    null = os.open(os.devnull, os.O_RDONLY)
    for number, fd in enumerate((null, out_fd, err_fd)):
        os.dup2(fd, number)
    first, second = sorted((request_fd, result_fd))
    for low, high in ((3, first), (first + 1, second), (second + 1, 1 << 20)):
        os.closerange(low, high)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
    rehearse()
    with open(request_fd, "rb") as file:
        text = file.read()
    if not text:
        os._exit(0)
    answer = work(json.loads(text))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    with open(result_fd, "wb") as file:
        file.write(text_of(answer))
    os._exit(1 if "error" in answer else 0)


# -- the warden ------------------------------------------------------------------------------------

class Stream:
    """What comes out of a pipe, up to a limit; the rest is read and thrown away."""

    def __init__(self, fd, limit):
        os.set_blocking(fd, False)
        self.fd, self.limit, self.kept, self.lost = fd, limit, bytearray(), 0

    def take(self):
        """False at its end."""
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return True
        room = max(0, self.limit - len(self.kept))
        self.kept += data[:room]
        self.lost += len(data[room:])
        return bool(data)

    def drain(self):
        while select.select([self.fd], [], [], 0)[0] and self.take():
            pass

    def text(self):
        note = f"\n... [{self.lost} more bytes were left out]\n" if self.lost else ""
        return self.kept.decode("utf-8", "replace") + note


def receive(connection):
    """A message: its length in eight bytes, and that many bytes."""
    def exactly(size):
        out = bytearray()
        while len(out) < size:
            data = connection.recv(min(size - len(out), 1 << 20))
            if not data:
                raise ConnectionError
            out += data
        return bytes(out)

    return exactly(int.from_bytes(exactly(8), "big"))


def watch(connection, child, pidfd, streams, seconds):
    """Until the call has ended. How: None where it ended itself, or why it was ended."""
    deadline, how = time.monotonic() + seconds, None
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.register(connection, select.POLLRDHUP)
    by_fd = {s.fd: s for s in streams}
    for fd in by_fd:
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll(max(0, deadline - time.monotonic()) * 1000):
            if fd == pidfd:
                return how
            if fd == connection.fileno():
                return "abandoned"
            if not by_fd[fd].take():
                poll.unregister(fd)
                if fd == streams[-1].fd and streams[-1].kept:
                    return how  # the result is whole: nobody waits for the process to go
        if time.monotonic() >= deadline:
            if how:
                return how
            how, deadline = "late", time.monotonic() + GRACE
            try:
                os.killpg(child, signal.SIGTERM)
            except ProcessLookupError:
                pass


def end(child):
    """Kills what is left of the call, whatever group or session it hides in; gives how the call itself ended."""
    status = None
    kill(child)
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    while True:
        for pid in children():
            kill(pid)
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        if pid == child:
            status = os.waitstatus_to_exitcode(ended)


def serve(connection, child, request_fd, streams, folder):
    request = json.loads(receive(connection))
    limits = request["limits"]
    out, err, result = streams
    out.limit = err.limit = limits["output"]
    result.limit = limits["result"]
    request["folder"] = folder
    try:
        pidfd = os.pidfd_open(child)
        try:
            with open(request_fd, "wb") as file:
                file.write(json.dumps(request).encode())
        except BrokenPipeError:
            pass
        how = watch(connection, child, pidfd, streams, limits["seconds"])
        status = None if result.kept and not how else end(child)
        if how != "abandoned":
            answer(connection, streams, how == "late", status)
    finally:
        end(child)
        shutil.rmtree(folder, ignore_errors=True)


def answer(connection, streams, late, status):
    for stream in streams:
        stream.drain()
    out, err, result = streams
    whole = bytes(result.kept) if result.kept and not result.lost else b"null"
    about = {"stdout": out.text(), "stderr": err.text(), "late": late, "status": status, "too_long": result.lost > 0}
    body = text_of(about)[:-1] + b', "outcome": ' + whole + b"}"
    connection.sendall(len(body).to_bytes(8, "big") + body)


def warden(control, taken, keeper, folders):
    die_with(keeper)
    adopt_orphans()
    signal.set_wakeup_fd(-1)
    (request_r, request_w), (out_r, out_w), (err_r, err_w), (result_r, result_w) = (os.pipe() for _ in range(4))
    own = os.getpid()
    child = os.fork()
    if child == 0:
        call_process(request_r, out_w, err_w, result_w, own)
    for fd in (request_r, out_w, err_w, result_w):
        os.close(fd)
    LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    folder = f"{folders}/{own}"
    os.mkdir(folder, 0o700)
    json.loads(text_of({"touched": [own]}))
    data, connections, _, _ = socket.recv_fds(control, 1, 1)
    if connections:
        os.write(taken, b"+")
        with socket.socket(fileno=connections[0]) as connection:
            serve(connection, child, request_w, [Stream(fd, 0) for fd in (out_r, err_r, result_r)], folder)
    end(child)


# -- the keeper ------------------------------------------------------------------------------------

def isolated(body):
    """Nothing of a forked process may run on into the code of its parent."""
    try:
        body()
    except (ConnectionError, BrokenPipeError):
        pass
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def reap(cells, folders):
    """Forgets the wardens that ended, and ends what belongs to none; what they had no time to remove goes too."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == 0:
            break
        cells.discard(pid)
        shutil.rmtree(f"{folders}/{pid}", ignore_errors=True)
    for pid in children():
        if pid not in cells:
            kill(pid)


def warm_up():
    """What a call needs is imported and compiled once, before the forks."""
    rehearse()
    gc.collect()
    gc.freeze()


def keep(spares):
    control = socket.socket(fileno=CONTROL)
    adopt_orphans()
    taken_r, taken_w = os.pipe()
    child_r, child_w = os.pipe()
    os.set_blocking(child_w, False)
    signal.set_wakeup_fd(child_w, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    warm_up()
    own, cells, ready = os.getpid(), set(), 0
    folders = tempfile.mkdtemp(prefix="tools-")
    poll = select.poll()
    for fd, events in ((control, 0), (taken_r, select.POLLIN), (child_r, select.POLLIN)):
        poll.register(fd, events)
    while True:
        while ready < spares:
            pid = os.fork()
            if pid == 0:
                isolated(lambda: warden(control, taken_w, own, folders))
            cells.add(pid)
            ready += 1
        for fd, _ in poll.poll():
            if fd == control.fileno():
                return leave(cells, folders)
            if fd == taken_r:
                ready -= len(os.read(taken_r, 64))
                if ready:
                    time.sleep(BREATH)
            else:
                os.read(child_r, 64)
                reap(cells, folders)


def leave(cells, folders):
    """The server is gone: so is the work of the wardens, who see it for themselves."""
    deadline = time.monotonic() + 5
    while cells and time.monotonic() < deadline:
        reap(cells, folders)
        time.sleep(0.01)
    for pid in cells:
        kill(pid)
    shutil.rmtree(folders, ignore_errors=True)


keep(int(sys.argv[1]))
