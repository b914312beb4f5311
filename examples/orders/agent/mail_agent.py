"""The mail service's agent in Python: it has the shop's URL, and neither a store nor TypeScript.

    MAIL_URL=http://127.0.0.1:4004 python3 mail_agent.py http://127.0.0.1:7070
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "packages" / "server" / "python"))

from triarch_agent import Agent, PermanentError, UnknownOutcomeError, serve  # noqa: E402

mail = Agent("mail", slots=50)


@mail.action("send")
def send(input, step):
    order = input["order"]
    return post("send", {"orderId": order["id"], "to": order["email"], "tracking": input["tracking"]}, step)


def post(kind, body, step):
    """The same key for every attempt; and what comes after complete-by is turned away by the service."""
    left = max(0.001, step.complete_by - time.monotonic())
    complete_by = datetime.fromtimestamp(time.time() + left, timezone.utc)
    headers = {
        "content-type": "application/json",
        "idempotency-key": step.idempotency_key,
        "attempt": str(step.number),
        "complete-by": complete_by.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    url = f"{os.environ['MAIL_URL']}/{kind}"
    asked = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers, method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=left) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        message = f"{url} answered {error.code}"
        if error.code < 500 and error.code not in (408, 429):
            raise PermanentError(message) from error
        raise RuntimeError(message) from error
    except (OSError, ValueError) as error:
        # A refused connection never reached the service. Any other silence says nothing about the effect.
        if isinstance(getattr(error, "reason", None), ConnectionRefusedError):
            raise RuntimeError(f"nobody answers at {url}") from error
        raise UnknownOutcomeError(f"no answer from {url}") from error


def leave_with_parent():
    """Standard input is a pipe from the parent: it ends when the parent does."""
    # Not sys.stdin: its lock would be held when this process ends by itself.
    while os.read(0, 4096):
        pass
    os._exit(0)


threading.Thread(target=leave_with_parent, daemon=True).start()
print(json.dumps({"agent": "mail"}), flush=True)
serve(sys.argv[1], [mail])
