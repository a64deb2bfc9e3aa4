"""Says again what others say in a conversation: echo.py HOME TOKEN CONVERSATION STATE

Killed at any moment and started again it answers each message once: it goes on where it was,
and what it says again under the same name is written once.
"""
import json, os, sys, time, urllib.request

home, token, conversation, state = sys.argv[1:]

def ask(path, body=None):
    with open(f"{home}/http") as file:
        url = f"http://{file.read().strip()}{path}"
    head = {"Authorization": f"Bearer {token}"}
    return urllib.request.urlopen(urllib.request.Request(url, body, head), timeout=60)

def call(method, **parameters):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return json.load(ask("/rpc", json.dumps(body).encode()))["result"]

def follow(cursor):
    for line in ask(f"/events?since={cursor}" if cursor else "/events"):
        if line.startswith(b"id: "):
            cursor = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            change = json.loads(line[6:])
            message = change.get("message") or {}
            if change.get("isNew") and not message.get("isOwn", True) and message.get("text"):
                call("send", conversation=conversation, texts=[message["text"]],
                     replyTo=message["id"], once=message["id"])
        elif line == b"\n" and cursor:
            with open(state + ".new", "w") as file:
                file.write(cursor)
            os.replace(state + ".new", state)

while True:
    try:
        follow(open(state).read() if os.path.exists(state) else "")
    except OSError:
        time.sleep(0.2)
