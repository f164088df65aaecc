"""The program and the system that a User-Agent names."""

import pytest

from server.agents import MAX_READ, agent_of, described
from store.sessions import MAX_AGENT

SAFARI = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4"
BLINK = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0"


@pytest.mark.parametrize(
    ("user_agent", "expected"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {BLINK} Safari/537.36", "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {BLINK} Safari/537.36 Edg/126.0.0.0", "Edge on Windows"),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {BLINK} Safari/537.36", "Chrome on ChromeOS"),
        (f"Mozilla/5.0 (Linux; Android 10; K) {BLINK} Mobile Safari/537.36 OPR/82.0.0.0", "Opera on Android"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {SAFARI} Safari/605.1.15", "Safari on macOS"),
        (
            f"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) {SAFARI} Mobile/15E148 Safari/604.1",
            "Safari on iOS",
        ),
        ("curl/8.5.0", "curl"),
        ("python-httpx/0.27.0", "python-httpx"),
        ("Mozilla/5.0 (compatible; odd; +http://203.0.113.9/bot)", ""),
        ("203.0.113.9", ""),
        ("alice@example.com", ""),
        ("", ""),
        ("<script>alert(1)</script>", ""),
        ("a" * 10_000, ""),
        ("Mozilla/5.0 " + "Version/" * 10_000, ""),
    ],
)
def test_agent_is_the_family_and_the_system(user_agent, expected):
    scope = {"headers": [(b"user-agent", user_agent.encode())]}

    assert agent_of(scope) == described(user_agent[:MAX_READ]) == expected
    assert len(expected) <= MAX_AGENT
    assert agent_of({"headers": []}) == ""
