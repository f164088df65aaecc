"""Refused mutations: the fields of their errors, and the time after which votes are refused."""

WHY = "fragment Why on UserError { __typename code message field ... on VotingClosed { closedAt } }"
WEEK = 7 * 86_400  # seconds
