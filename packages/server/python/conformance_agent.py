"""The agent that triarch-conformance asks for, in Python."""

import os
import threading

from triarch_agent import Agent, PermanentError, serve

agent = Agent("conformance", slots=4)
lock = threading.Lock()
runs = 0


@agent.action("echo", undo=lambda input, output, step: None, verify=lambda input, step: (True, input))
def echo(input, step):
    return input


@agent.action("fail", verify=lambda input, step: None if input == "unknown" else False)
def fail(input, step):
    if input == "permanent":
        raise PermanentError("no use")
    raise RuntimeError("try again")


@agent.action("count")
def count(input, step):
    global runs
    with lock:
        runs += 1
        return runs


@agent.action("slow")
def slow(input, step):
    step.log("info", "sleeps", ms=input)
    step.heartbeat(checkpoint={"at": 1}, progress=0.5)
    if step.aborted.wait(input / 1000):
        raise RuntimeError("aborted")
    return "slept"


@agent.action("wait")
def wait(input, step):
    if step.signal is not None:
        return step.signal
    return step.suspend(timeout=60000)


serve(os.environ["TRIARCH_URL"], [agent], token=os.environ["TRIARCH_TOKEN"])
