"""Questions to the control interface of `zoocheck serve`."""

import http.client
import json
import urllib.parse


class Refused(ValueError):
    """What was asked for is not done; the text says why, in a line."""


def ask(control, method, path, body=None):
    """The answer, as JSON or as a line. No proxy is between this machine and itself."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(control).netloc)
    try:
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise Refused(text.strip())
        return json.loads(text) if answer.getheader("Content-Type") == "application/json" else text.strip()
    finally:
        connection.close()
