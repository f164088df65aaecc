"""The alert rules and the dashboard in deploy/: they ask for metrics that a server has."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from server.observability.metrics import DatabaseGauges, MailGauges, MemoryGauges, Metrics, WebhookGauges
from tests import programs

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = re.compile(r"\bupvote_\w+")


def expressions(file: str) -> list[str]:
    text = (DEPLOY / file).read_text()
    if file == "alerts.yaml":
        return [rule["expr"] for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]
    return [target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"]]


@pytest.mark.parametrize("file", ["alerts.yaml", "grafana.json"])
def test_metrics_of_the_file_are_those_of_the_server(file):
    metrics = Metrics()
    metrics.database = DatabaseGauges(up=True, lag_entries=0, lag_seconds=0.0)
    metrics.mails = MailGauges(due=0, due_seconds=0.0)
    metrics.webhooks = {1: WebhookGauges(pending=0, pending_seconds=0.0, off=False)}
    metrics.memory = MemoryGauges(used_bytes=1, limit_bytes=2, full_timestamp_seconds=3)
    families = list(text_string_to_metric_families(bytes(metrics.scrape().body).decode()))
    known = {sample.name for family in families for sample in family.samples}
    known |= {f"{family.name}_total" for family in families if family.type == "counter"}
    known |= {family.name for family in families}
    asked = {name for expression in expressions(file) for name in NAME.findall(expression)}

    assert len(asked) >= 10
    assert asked - known == set()


@pytest.mark.slow
def test_rules_are_accepted_by_prometheus(tmp_path):
    promtool = programs.program("promtool", "prometheus")
    broken = tmp_path / "broken.yaml"
    broken.write_text((DEPLOY / "alerts.yaml").read_text().replace("max(upvote_writes_refused) > 0", "max(("))
    done = [
        subprocess.run([promtool, "check", "rules", str(file)], capture_output=True, text=True)
        for file in (DEPLOY / "alerts.yaml", broken)
    ]

    assert [each.returncode == 0 for each in done] == [True, False], done
    assert "11 rules found" in done[0].stdout


def test_each_panel_of_the_dashboard_asks_the_data_source_that_is_chosen_above_it():
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]

    assert {panel["datasource"]["uid"] for panel in panels} == {"${prometheus}"}
    assert len({panel["title"] for panel in panels}) == len(panels) == 13
