"""Take a test through the HTTP API: python api_client.py http://127.0.0.1:8000 TOKEN TEST NAME (a token with the scope sessions)."""

import json
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

server, token, test, name = sys.argv[1:]


def call(path, body=None):
    """One request. When the connection breaks or the server is busy it is sent again: with the same key it counts once."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": str(uuid4())}
    for patience in (1, 2, 4, 8, 16):
        try:
            with urlopen(Request(f"{server}/api/v1{path}", body and json.dumps(body).encode(), headers), timeout=30) as response:
                return json.load(response)
        except HTTPError as error:
            problem = json.load(error)
            if "state" in problem:  # answered elsewhere: go on from where the session stands
                return problem["state"]
            if error.code not in (429, 503):
                sys.exit(f"{problem['title']}: {problem['detail']}")
        except OSError as error:
            print(f"trying again: {error}", file=sys.stderr)
        time.sleep(patience)
    sys.exit("The server does not answer; please try again later.")


state = call("/sessions", {"test": int(test), "name": name})
while not state["over"]:
    question, answer = state["question"], {"step": state["step"]}
    print(question["text"], *question["options"], sep="\n   - ")
    entry = sys.stdin.readline().strip()  # an empty line skips the question; several options are written with | between them
    if entry:
        answer["entry"] = entry.split("|") if question["kind"] == "choices" else entry
    state = call(f"/sessions/{state['session']}/{'answers' if entry else 'skips'}", answer)
for skill in call(f"/sessions/{state['session']}/result")["skills"]:
    certain = "" if skill["sure"] else ", not sure yet"
    found = f"{skill['level']} ({skill['lower']:.0%} to {skill['upper']:.0%}{certain})" if skill["enough"] else "too few answers"
    print(f"{skill['title']}: {found}")
