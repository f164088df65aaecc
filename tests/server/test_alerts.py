"""The alert rules of deploy/: promtool evaluates them for a server that is well for an hour, and then is not."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests import programs

FILE = Path(__file__).parents[2] / "deploy" / "alerts.yaml"
RULES = {rule["alert"]: rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]}
INSTANCE = "127.0.0.1:8000"
UP = f'up{{instance="{INSTANCE}", job="upvote"}}'
BUCKETS = 'upvote_operation_seconds_bucket{le="%s", operation="Front"}'
ERRORS = 'upvote_errors_total{code="%s", operation="Front"}'

# Values of each minute, as promtool has them: `60+1x9` is 60 and nine more, each greater by 1.
MINUTES = 180
WELL = {
    UP: f"1+0x{MINUTES}",
    "upvote_writes_refused": f"0+0x{MINUTES}",
    "upvote_store_memory_full_timestamp_seconds": f"{30 * 86_400}+0x{MINUTES}",
    "upvote_store_memory_used_bytes": f"850+0x{MINUTES}",
    "upvote_store_memory_limit_bytes": f"1000+0x{MINUTES}",
    "upvote_database_up": f"1+0x{MINUTES}",
    "upvote_database_lag_seconds": f"200+0x{MINUTES}",
    BUCKETS % "0.2": f"0+900x{MINUTES}",
    BUCKETS % "0.5": f"0+960x{MINUTES}",
    BUCKETS % "1.0": f"0+990x{MINUTES}",
    BUCKETS % "+Inf": f"0+1000x{MINUTES}",
    ERRORS % "BAD_USER_INPUT": f"0+50x{MINUTES}",
    ERRORS % "INTERNAL_SERVER_ERROR": f"7+0x{MINUTES}",
    "upvote_log_lines_dropped_total": f"5+0x{MINUTES}",
    'upvote_webhook_pending_seconds{webhook="1"}': f"3000+0x{MINUTES}",
    'upvote_webhook_off{webhook="1"}': f"0+0x{MINUTES}",
    "upvote_mails_due_seconds": f"800+0x{MINUTES}",
}
BEGIN = 60  # the minute in which the fault begins; 120 are left
WINDOW = 5  # minutes over which the rules have rates
FAULTS = [  # the alert, a series, and its values from `BEGIN` on
    ("UpvoteDown", UP, "0+0x120"),
    ("UpvoteRefusesWrites", "upvote_writes_refused", "1+0x120"),
    ("UpvoteStoreIsFullSoon", "upvote_store_memory_full_timestamp_seconds", f"{6 * 86_400}+0x120"),
    ("UpvoteStoreIsNearlyFull", "upvote_store_memory_used_bytes", "901+0x120"),
    ("UpvoteDatabaseAway", "upvote_database_up", "0+0x120"),
    ("UpvoteDatabaseBehind", "upvote_database_lag_seconds", "301+0x120"),
    ("UpvoteSlow", BUCKETS % "0.5", f"{60 * 960}+900x120"),
    ("UpvoteInternalErrors", ERRORS % "INTERNAL_SERVER_ERROR", "8+1x120"),
    ("UpvoteLogLinesDropped", "upvote_log_lines_dropped_total", "6+0x120"),
    ("UpvoteWebhookBehind", 'upvote_webhook_pending_seconds{webhook="1"}', "3601+0x120"),
    ("UpvoteWebhookBehind", 'upvote_webhook_off{webhook="1"}', "1+0x120"),
    ("UpvoteMailsLate", "upvote_mails_due_seconds", "901+0x120"),
]


def test_there_is_a_fault_for_each_alert():
    assert {alert for alert, *_ in FAULTS} == set(RULES)
    assert len(RULES) == 11


@pytest.mark.slow
@pytest.mark.parametrize(("alert", "series", "values"), FAULTS)
def test_alert_fires_alone_once_its_fault_has_lasted(tmp_path, alert, series, values):
    pending = minutes(RULES[alert].get("for", "0m"))
    before = WELL[series].replace(f"x{MINUTES}", f"x{BEGIN - 1}")
    firing = BEGIN + pending + WINDOW
    done = evaluate(
        tmp_path,
        WELL | {series: f"{before} {values}"},
        [
            *(expected(each, BEGIN - 1, fires=False) for each in RULES),
            expected(alert, BEGIN + pending - 1, fires=False),
            *(expected(each, firing, fires=each == alert) for each in RULES),
        ],
    )

    assert done.returncode == 0, done.stdout + done.stderr


def evaluate(folder, series, expectations):
    """Let promtool look whether the alerts are as expected."""
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": expectations,
    }
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(FILE)], "evaluation_interval": "1m", "tests": [test]}))
    promtool = programs.program("promtool", "prometheus")
    return subprocess.run([promtool, "test", "rules", str(file)], capture_output=True, text=True)


def expected(alert, minute, *, fires):
    """That an alert fires in a minute, with all that it says, or that it does not."""
    rule = RULES[alert]
    place = {"instance": INSTANCE, "job": "upvote"} if alert == "UpvoteDown" else {}
    place |= {"webhook": "1"} if alert == "UpvoteWebhookBehind" else {}
    texts = {key: text.replace("{{ $labels.instance }}", INSTANCE) for key, text in rule["annotations"].items()}
    found = [{"exp_labels": rule["labels"] | place, "exp_annotations": texts}]
    return {"alertname": alert, "eval_time": f"{minute}m", "exp_alerts": found if fires else []}


def minutes(text):
    return int(text[:-1]) * {"m": 1, "h": 60}[text[-1]]
