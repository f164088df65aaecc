"""The settings, read once at start from environment variables that begin with UPVOTE_."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from store.keys import SLOTS
from store.ranking import DAY, Policy

PREFIX = "UPVOTE_"


def _power_of_two(count: int) -> int:
    if count & (count - 1):
        raise ValueError("this is a power of two")
    return count


class WrongSetting(Exception):
    """The message names the setting."""


class Settings(BaseSettings):
    """Each setting's description stands in the README too; a test compares them."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True)

    host: str = Field("127.0.0.1", description="the address to listen at")
    port: int = Field(8000, ge=0, le=65_535, description="the port to listen at; 0 takes a free one")
    redis_url: str | None = Field(None, description="a Redis or Valkey that runs already, in place of our own")
    data_dir: Path = Field(Path("data"), description="where our own Valkey keeps its data")
    partitions: Annotated[int, AfterValidator(_power_of_two)] | None = Field(
        None, ge=1, le=SLOTS, description="how many shares a new store has: a power of two; 1 unless given"
    )
    voting_window: int = Field(7 * DAY, ge=1, description="how long an article can be voted on, in seconds")
    good_votes: int = Field(200, ge=1, description="how many votes make an article good")
    vote_score: float = Field(DAY / 200, gt=0, allow_inf_nan=False, description="how many seconds a vote is worth")
    session_ttl: int = Field(DAY, ge=1, description="how long an unused session lasts, in seconds")
    workers: int = Field(1, ge=1, description="how many processes answer")
    rate_limits: Literal["on", "off"] = Field("on", description="`off` switches all rate limits off")

    @property
    def policy(self) -> Policy:
        return Policy(self.good_votes, self.vote_score, self.voting_window)


def read_settings() -> Settings:
    """
    The settings that the environment gives.

    Raises:
        WrongSetting: a value cannot be used, or there is no such setting.
    """
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    if unknown := sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known):
        raise WrongSetting(f"{unknown[0]}: there is no such setting")
    try:
        return Settings()
    except ValidationError as error:
        fault = error.errors()[0]
        name = PREFIX + str(fault["loc"][0]).upper()
        raise WrongSetting(f"{name}={fault['input']}: {fault['msg']}") from error
