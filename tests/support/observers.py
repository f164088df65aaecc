"""An observer that records its calls."""

from dataclasses import dataclass, field

from engine import BackendUsage, Observation


@dataclass
class Recorder:
    """An observer that records its calls; `open` is the number of operations that have not ended."""

    open: int = 0
    recorded: list[Observation] = field(default_factory=list)
    usages: list[BackendUsage] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)

    def on_start(self, observation):
        self.open += 1

    def on_end(self, observation):
        self.open -= 1
        self.recorded.append(observation)

    def on_result(self, observation, usage):
        self.usages.append(usage)

    def on_refusal(self, code, client, request_id):
        self.refusals.append((code, request_id))
