"""A page of the feed, and what a viewer does with it. Python 3.9 or newer, nothing to install."""
import json
import os
import urllib.request
import uuid

SERVICE = os.environ["REELFEED"]
KEY = os.environ["PUBLISHABLE_KEY"]


def call(path: str, body: "dict | None" = None) -> dict:
    request = urllib.request.Request(
        SERVICE + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


item = call("/v1/feed?userId=ada&limit=10")["data"][0]
print(item["id"], item["title"], item["streamingUrl"])

shared = {"contentId": item["id"], "userId": "ada", "sessionId": str(uuid.uuid4())}
sent = call("/v1/events/batch", {
    "events": [
        {**shared, "eventId": str(uuid.uuid4()), "event": "impression", "data": {"position": 0}},
        {**shared, "eventId": str(uuid.uuid4()), "event": "playStart", "data": {"startupTime": 180}},
        {**shared, "eventId": str(uuid.uuid4()), "event": "like"},
    ],
})
print(sent["data"])
