"""The Teams end: keeps what was posted to each channel, and answers as it was told to."""

from __future__ import annotations

from collections import defaultdict, deque

import msgspec

from emulator.times import iso


class Answer(msgspec.Struct, frozen=True):
    """What a webhook answers; 202 with nothing in it is what Workflows do."""

    status: int = 202
    body: str = ""
    headers: dict[str, str] = {}
    hang: float = 0.0
    """Seconds before it answers."""


class Post(msgspec.Struct, frozen=True):
    """Something posted, whether or not it was accepted (`status` tells)."""

    channel: str
    time: float
    """The emulator's time, Unix seconds."""
    received: float
    """The wall clock, Unix seconds: what waits between retries are measured with."""
    status: int
    body: msgspec.Raw

    @property
    def accepted(self) -> bool:
        return 200 <= self.status < 300


MISMATCH = Answer(
    400,
    '{"error":{"code":"TriggerInputSchemaMismatch","message":"The input body for trigger'
    " 'manual' of type 'Request' is not valid JSON.\"}}",
)
UNSIGNED = Answer(
    401,
    '{"error":{"code":"DirectApiAuthorizationRequired","message":"The request must be'
    ' authenticated only by Shared Access scheme."}}',
)


class Inbox:
    """Everything posted so far, and the answers still to be given."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self._scripts: dict[str, deque[Answer]] = defaultdict(deque)
        self._standing: dict[str, Answer] = {}

    def script(self, channel: str, *answers: Answer) -> None:
        """Give these answers to the next posts of a channel, one each."""
        self._scripts[channel].extend(answers)

    def always(self, channel: str, answer: Answer) -> None:
        """Give this answer whenever the script of a channel is at its end."""
        self._standing[channel] = answer

    def receive(self, channel: str, body: bytes, time: float, received: float) -> Answer:
        script = self._scripts[channel]
        answer = script.popleft() if script else self._standing.get(channel, Answer())
        try:
            msgspec.json.decode(body)
        except msgspec.DecodeError:
            return MISMATCH
        post = Post(channel, time, received, answer.status, msgspec.Raw(body))
        self.posts.append(post)
        return answer

    def shown(self) -> list[dict[str, object]]:
        """What was accepted, as a page shows it: the body with the time and the channel."""
        return [
            {**body, "received": iso(int(post.time // 60)), "channel": post.channel}
            for post in self.posts
            if post.accepted and isinstance(body := msgspec.json.decode(post.body), dict)
        ]

    def of(self, channel: str) -> list[Post]:
        return [post for post in self.posts if post.channel == channel]
