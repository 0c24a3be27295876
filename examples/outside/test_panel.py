"""A test of agents from outside: a server with a script as its model and a clock that the test sets.

    TROUPE_BINARY=/path/to/troupe python3 test_panel.py
"""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
TROUPE = os.environ.get("TROUPE_BINARY", "troupe")
HOUR = 3_600_000


class Server:
    """A server of its own for a test, on any free port and a folder that goes away."""

    def __init__(self):
        self.data = tempfile.TemporaryDirectory()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [TROUPE, "serve", "--port", "0", "--data", self.data.name, "--test-clock", "--rehearsal", HERE / "panel.json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if found := re.search(r"listens on (\S+?),", line):
                self.url = found[1]
                return
        raise RuntimeError("the server did not start")

    def end(self, kill=False):
        (self.process.kill if kill else self.process.terminate)()
        self.process.wait()
        self.process.stdout.close()

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, headers={"Content-Type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def agent(self, name, persona, **more):
        blocks = [{"label": "persona", "value": persona}, {"label": "human", "value": ""}]
        return self.call("POST", "/v1/agents/", {"name": name, "model": "rehearsal/panel", "include_base_tools": False,
                                                 "memory_blocks": blocks, **more})

    def group(self, members, **config):
        return self.call("POST", "/v1/groups/", {"agent_ids": [a["id"] for a in members], "description": "A panel.",
                                                 "manager_config": {"manager_type": "round_robin", **config}})

    def conversation(self, group):
        said = self.call("GET", f"/v1/groups/{group['id']}/messages?view=conversation")
        return [(m["name"], m["content"]) for m in said]

    def advance(self, milliseconds):
        self.call("POST", "/v1/_test/clock", {"advance_ms": milliseconds})


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


def eventually(look, seconds=20):
    """What happens in the background happens soon, but not at once."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > end:
            raise AssertionError("not in time")
        time.sleep(0.02)
    return seen


class Panel(unittest.TestCase):
    def setUp(self):
        self.server = Server()

    def tearDown(self):
        self.server.end()
        self.server.data.cleanup()

    def test_everybody_hears_everybody(self):
        optimist = self.server.agent("optimist", "I am the optimist")
        sceptic = self.server.agent("sceptic", "I am the sceptic")
        group = self.server.group([optimist, sceptic])
        self.server.call("POST", f"/v1/groups/{group['id']}/messages", said("It will work."))
        self.assertEqual(self.server.conversation(group), [
            (None, "It will work."),
            ("optimist", "It will work. Certainly."),
            ("sceptic", '"It will work. Certainly." is what optimists say.')])

    def test_who_hangs_is_passed_over_and_a_crash_loses_nothing(self):
        sleeper = self.server.agent("sleeper", "I am the sleeper")
        optimist = self.server.agent("optimist", "I am the optimist")
        group = self.server.group([sleeper, optimist], member_deadline_s=600, on_member_error="skip")
        run = self.server.call("POST", f"/v1/groups/{group['id']}/messages/async", said("It will work."))
        self.server.end(kill=True)
        self.server.start()
        eventually(lambda: self.server.call("GET", "/v1/outbox")["kinds"].get("group_turn"))  # somebody is asked
        self.server.advance(600_000)
        eventually(lambda: self.server.call("GET", f"/v1/runs/{run['id']}")["status"] == "completed")
        self.assertEqual(self.server.conversation(group)[-1], ("optimist", "It will work. Certainly."))

    def test_a_companion_waits_for_a_quiet_hour(self):
        agent = self.server.agent("main", "I am the main one", enable_sleeptime=True)
        self.server.call("PATCH", f"/v1/groups/{agent['multi_agent_group']['id']}", {"manager_config": {
            "manager_type": "sleeptime", "sleeptime_agent_frequency": 1, "idle_seconds": 3600}})
        self.server.call("POST", f"/v1/agents/{agent['id']}/messages", said("My name is Ada."))

        def memory():
            return self.server.call("GET", f"/v1/agents/{agent['id']}/core-memory/blocks/human")["value"].strip()

        self.server.advance(HOUR - 60_000)
        time.sleep(0.2)
        self.assertEqual(memory(), "")
        self.server.advance(60_000)
        self.assertEqual(eventually(memory), "Name: Ada")


if __name__ == "__main__":
    unittest.main()
