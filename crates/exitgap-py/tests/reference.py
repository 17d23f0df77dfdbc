"""What the reference shows in Python, asked: each answer is what its address answers, or refused as that is.

Usage: python reference.py <service> <what stands for a rule's name>, in a folder with snippets.py and asked.json, which
the suite writes: `tests/suite/documents/languages.rs`.
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

import exitgap
import snippets

SERVICE, RULE = sys.argv[1:]
token, alert = "", ""


def settled(value):
    """Without what may change between two questions: ages, and how a webhook does."""
    if isinstance(value, list):
        return [settled(one) for one in value]
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if not name.endswith("age_s") and name != "webhook"}
        return {name: settled(one) for name, one in kept.items()}
    return value


def served(one):
    """What the address itself answers, and whether it refuses."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(SERVICE + one["target"].replace(RULE, alert), headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            found = response.read()
    except urllib.error.HTTPError as error:
        return json.load(error), True
    return (json.loads(found) if one["kind"] == "json" else found), False


for one in json.loads(Path("asked.json").read_text()):
    name = one["id"]
    try:
        answer, refused = getattr(snippets, name)(token, alert), None
    except exitgap.ExitgapError as error:
        answer, refused = None, error.code
    except urllib.error.HTTPError as error:
        answer, refused = None, json.load(error).get("code")
    if name == "keepAlert":
        token, alert = answer["token"], answer["alert"]["alert"]
    if name == "streamSlots":
        assert "event: pool\n" in answer, answer
    elif name == "readMetrics":
        assert answer.startswith(b"# "), answer
    elif one["method"] != "GET":
        assert refused is None, (name, refused)
    else:
        expected, is_refused = served(one)
        if is_refused:
            assert refused == expected.get("code"), (name, refused, expected)
        elif name == "readHistory":
            assert settled(answer) == settled(expected["rows"]), name
        elif name == "readSnapshot":
            assert expected in answer, name
        elif one["kind"] == "json":
            assert settled(answer) == settled(expected), (name, answer, expected)
        else:
            assert answer == expected, name
print("sound")
