"""Agents for Triarch in Python: docs/protocol.md, with nothing but the standard library.

    mail = Agent("mail", slots=20)

    @mail.action("send")
    def send(input, step):
        return {"id": step.idempotency_key}

    serve("http://127.0.0.1:7070", [mail], token="s3cret")
"""

import json
import random
import re
import signal
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid

PROTOCOL = 1
WAIT_MS = 4000
AGAIN_S = 5.0
MOST_LINES, LARGEST_FIELDS = 1000, 8192
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0


class PermanentError(Exception):
    """Trying again is no help."""


class UnknownOutcomeError(Exception):
    """It may have taken effect all the same."""


class Suspended:
    """What an action returns when it waits: step.suspend(...)."""

    def __init__(self, said):
        self.said = said


class Agent:
    def __init__(self, name, slots=10):
        self.name = name
        self.slots = slots
        self.actions = {}

    def action(self, name, undo=None, verify=None):
        """undo(input, output, step); verify(input, step) gives (True, output), False, or None: nobody knows."""

        def define(run):
            self.actions[f"{self.name}.{name}"] = {"run": run, "undo": undo, "verify": verify}
            return run

        return define


class Step:
    """What an attempt knows, and what it may say."""

    def __init__(self, process, given, since):
        self._process = process
        self._beat = 0
        self._line = 0
        self.attempt = given["attempt"]
        self.number = given["number"]
        self.task = given["task"]
        self.idempotency_key = given["idempotencyKey"]
        self.token = given["token"]
        self.checkpoint = given.get("checkpoint")
        self.signal = given.get("signal")
        self.metadata = given.get("metadata", {})
        self.complete_by = since + given["attemptWithin"] / 1000
        # Set when the attempt is to end.
        self.aborted = threading.Event()

    def heartbeat(self, **told):
        """progress=..., checkpoint=...: it lives."""
        self._beat += 1
        self._process.say({"type": "heartbeat", "attempt": self.attempt, "beat": self._beat, **told})

    def log(self, level, message, **fields):
        """level: "debug", "info", "warn" or "error". What is beyond MOST_LINES of an attempt is dropped."""
        self._line += 1
        if self._line > MOST_LINES:
            return
        if self._line == MOST_LINES:
            message, fields = "more lines are dropped", {}
        try:
            if len(json.dumps(fields, allow_nan=False)) > LARGEST_FIELDS:
                fields = {"omitted": "they are too large"}
        except (TypeError, ValueError) as error:
            fields = {"omitted": str(error)[:200]}
        line = {"n": self._line, "level": level, "message": str(message)[:4096], "fields": fields}
        self._process.write(self.attempt, line)

    def suspend(self, **options):
        """timeout=ms, checkpoint=..., progress=...: return what this gives."""
        return Suspended(options)


class Refused(Exception):
    pass


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect may lead to another host, which is not to learn the token: it is an error, as any other answer that is not 2xx."""

    def redirect_request(self, *_):
        return None


def _is_loopback(hostname):
    return re.fullmatch(r"localhost|127(\.\d+){3}|::1", hostname) is not None


_opener = urllib.request.build_opener(_NoRedirects)


class Process:
    """One process of agents: what runs, what was answered and is not acknowledged, and who it talks to."""

    def __init__(self, url, agents, token=None, insecure=False):
        at = urllib.parse.urlsplit(url)
        if token is not None and at.scheme == "http" and not _is_loopback(at.hostname or "") and not insecure:
            raise ValueError("the token would go to another machine over http:, where everybody on the way can read it: use https:, or say insecure=True")
        self._url = url.rstrip("/") + "/api/v1/agents/exchange"
        self._agents = {agent.name: agent for agent in agents}
        self._token = token
        self._instance = uuid.uuid4().hex
        self._hellos = 0
        self._lease = float("inf")
        self._lock = threading.Condition()
        self._session = None
        # Counts the hellos: an answer to a request from before one counts for nothing.
        self._generation = 0
        self._seen = 0
        self._running = {}
        self._unacknowledged = {}
        # In which session each was given; and until when those are named whose answer another session acknowledged.
        self._given_by = {}
        self._answered = {}
        self._said = []
        # Lines of logs by attempt: [line, when it was written].
        self._lines = {}
        self._draining = False
        self._open = True
        self._pause = FIRST_PAUSE_S

    # ---- what the agents say

    def say(self, message):
        with self._lock:
            self._said.append(message)
            self._lock.notify_all()

    def write(self, attempt, line):
        with self._lock:
            self._lines.setdefault(attempt, []).append((line, time.monotonic()))

    def _log(self, attempts, now):
        """Under the lock: the lines of these attempts."""
        messages = []
        for attempt in attempts:
            lines = self._lines.pop(attempt, [])
            told = [{**line, "ago": max(0, (now - at) * 1000)} for line, at in lines]
            messages += [{"type": "log", "attempt": attempt, "lines": told[n : n + 100]} for n in range(0, len(told), 100)]
        return messages

    def _answer(self, message):
        with self._lock:
            # In order: a reply ends what is said of an attempt.
            self._said += self._log([message["attempt"]], time.monotonic())
            self._running.pop(message["attempt"], None)
            self._unacknowledged[message["attempt"]] = [message, 0.0]
            self._lock.notify_all()

    def _due(self, now):
        return [kept for kept in self._unacknowledged.values() if now - kept[1] >= AGAIN_S]

    def _request(self, wait):
        """Under the lock."""
        messages = []
        if self._session is None:
            self._hellos += 1
            offers = [
                {"name": it.name, "slots": 0 if self._draining else it.slots, "actions": list(it.actions)}
                for it in self._agents.values()
            ]
            now = time.monotonic()
            self._answered = {name: until for name, until in self._answered.items() if until > now}
            running = list(self._running) + list(self._unacknowledged) + list(self._answered)
            messages.append(
                {"type": "hello", "protocol": PROTOCOL, "instance": self._instance, "count": self._hellos, "agents": offers, "running": running, "software": "python"}
            )
        now = time.monotonic()
        if self._session is not None:
            messages += self._said[:100]
            del self._said[:100]
            messages += self._log(list(self._lines)[:10], now)
        if not any(it["type"] == "log" for it in self._said):
            for kept in self._due(now)[:100]:
                kept[1] = now
                messages.append(kept[0])
        request = {"seen": self._seen, "wait": 0 if self._session is None else wait, "messages": messages}
        if self._session is not None:
            request["session"] = self._session
        return request

    # ---- what a server says

    def _post(self, request):
        headers = {"content-type": "application/json"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        body = json.dumps(request, allow_nan=False).encode()
        asked = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        with _opener.open(asked, timeout=WAIT_MS / 1000 + 10) as answer:
            return json.loads(answer.read())

    def _exchange(self, wait):
        with self._lock:
            if self._session is None:
                self._generation += 1
            generation = self._generation
            request = self._request(wait)
        asked = time.monotonic()
        try:
            answer = self._post(request)
            messages, since = answer["messages"], asked + answer.get("after", 0) / 1000
        except (OSError, ValueError) as error:
            self._failed(generation, error)
            return
        with self._lock:
            if generation != self._generation:
                return
            if "session" in request:
                self._pause = FIRST_PAUSE_S
            for message in messages:
                self._hear(message, since)
            if self._session is None:
                self._generation += 1  # what is still under way was asked in a session that is no more
            self._lock.notify_all()

    def _failed(self, generation, error):
        with self._lock:
            if generation != self._generation:
                return
            self._disconnected()
            pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE_S)
        if isinstance(error, urllib.error.HTTPError):
            pause = max(pause, min(float(error.headers.get("retry-after") or 0), LONGEST_PAUSE_S))
        time.sleep(pause * (0.5 + random.random() / 2))

    def _disconnected(self):
        self._session = None
        self._seen = 0
        self._generation += 1
        for kept in self._unacknowledged.values():
            kept[1] = 0.0 - AGAIN_S

    def _hear(self, message, since):
        kind = message["type"]
        if "n" in message:
            if message["n"] <= self._seen:
                return
            self._seen = message["n"]
        if kind == "welcome":
            self._session = message["session"]
            self._lease = message["lease"] / 1000
            self._seen = 0
        elif kind in ("reset", "drain"):
            self._disconnected()
        elif kind == "refused":
            self._open = False
            raise Refused(message["message"])
        elif kind == "attempt":
            self._start(message, since)
        elif kind == "ack":
            self._unacknowledged.pop(message["attempt"], None)
            if self._given_by.pop(message["attempt"], self._session) != self._session:
                # Who gave it may not have heard of the answer, and would give it once more.
                self._answered[message["attempt"]] = time.monotonic() + 2 * self._lease
        elif kind == "abort":
            step = self._running.get(message["attempt"])
            if step is not None:
                step.aborted.set()
            elif message["attempt"] not in self._unacknowledged:
                # It was answered, and another server took the answer: who asks for its end still has a place for it.
                error = {"name": "Error", "message": message["message"]}
                outcome = {"kind": "failed", "error": error, "retryable": True, "unknown": True}
                self._unacknowledged[message["attempt"]] = [{"type": "reply", "attempt": message["attempt"], "outcome": outcome}, 0.0 - AGAIN_S]

    def _start(self, given, since):
        name = given["attempt"]
        if name in self._running or name in self._unacknowledged:
            return
        agent = self._agents.get(given["agent"])
        action = agent.actions.get(given["action"]) if agent else None
        busy = sum(1 for it in self._running.values() if it.agent is agent)
        # It may have been given up meanwhile, and found not to have happened.
        age = time.monotonic() - since
        late = age > self._lease or age * 1000 >= given["attemptWithin"]
        if late or action is None or busy >= agent.slots or self._draining:
            self._unacknowledged[name] = [{"type": "reply", "attempt": name, "outcome": {"kind": "withdrawn", "after": 250}}, 0.0 - AGAIN_S]
            return
        step = Step(self, given, since)
        step.agent = agent
        self._running[name] = step
        self._given_by[name] = self._session
        threading.Thread(target=self._run, args=(action, given, step), daemon=True).start()

    def _run(self, action, given, step):
        try:
            message = self._perform(action, given, step)
            json.dumps(message, allow_nan=False)
        except Exception as error:  # whatever the action's code raises
            kind = type(error).__name__
            record = {"name": kind, "message": str(error)[:8000], "stack": traceback.format_exc()[-8000:]}
            outcome = {"kind": "failed", "error": record, "retryable": not isinstance(error, PermanentError)}
            if isinstance(error, UnknownOutcomeError) or step.aborted.is_set():
                outcome["unknown"] = True
            message = {"type": "reply", "attempt": step.attempt, "outcome": outcome}
        self._answer(message)

    def _perform(self, action, given, step):
        operation = given["operation"]
        reply = {"type": "reply", "attempt": step.attempt}
        if operation == "undo":
            action["undo"](given["input"], given.get("output"), step)
            return {**reply, "outcome": {"kind": "done"}}
        if operation == "verify":
            found = action["verify"](given["input"], step)
            if found is None:
                return {**reply, "outcome": {"kind": "unknown"}}
            if found is False:
                return {**reply, "outcome": {"kind": "not-done"}}
            return {**reply, "outcome": {"kind": "done", "output": found[1]}}
        output = action["run"](given["input"], step)
        if isinstance(output, Suspended):
            return {"type": "suspend", "attempt": step.attempt, **output.said}
        return {**reply, "outcome": {"kind": "done", "output": output}}

    # ---- its life

    def _send(self):
        """Says what there is to say while the other thread waits at the server."""
        while True:
            with self._lock:
                while self._open and (self._session is None or not (self._said or self._due(time.monotonic()))):
                    self._lock.wait(1)
                if not self._open:
                    return
            self._exchange(0)

    def drain(self):
        with self._lock:
            self._draining = True
            self._said.append({"type": "drain"})
            self._lock.notify_all()

    def run(self):
        """Until it is drained: then all that ran is answered, and acknowledged."""
        threading.Thread(target=self._send, daemon=True).start()
        while True:
            with self._lock:
                if self._draining and not self._running and not self._unacknowledged:
                    break
            self._exchange(200 if self._draining else WAIT_MS)
        with self._lock:
            self._open = False
            farewell = {"session": self._session, "seen": self._seen, "messages": [{"type": "leave"}]}
            self._lock.notify_all()
        if farewell["session"] is not None:
            try:
                self._post(farewell)
            except (OSError, ValueError):
                pass


def serve(url, agents, token=None, insecure=False):
    """Hosts the agents until SIGTERM or SIGINT: then what runs finishes."""
    process = Process(url, agents, token, insecure)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=process.drain).start())
    process.run()
