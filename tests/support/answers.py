"""The error code of a response, and waiting until a measured value no longer changes."""

from tests.engine.sample import until


def code(response):
    """The code of the first error of a response of GraphQL."""
    return response.json()["errors"][0]["extensions"]["code"]


async def stable(measure):
    """Wait until a measure has had the same value 30 times in a row."""
    seen = []
    await until(lambda: seen.append(measure()) or (len(seen) > 30 and len(set(seen[-30:])) == 1))
