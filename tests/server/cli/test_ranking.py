"""
The commands `upvote reindex`, which builds the indexes of orders, and `upvote ranking`, which sets weights of groups.
The settings `front_order` and `site_orders` name the orders of which the site has pages.
"""

import pytest

from server.cli.main import main
from server.settings import read_settings
from server.site_orders import SiteOrders
from store.ranking.formulas import Policy
from tests.server.commands import run
from tests.server.conftest import POST, REGISTER, serving
from tests.servers import until

PAGE = "{ articles(order: %s) { totalCount } }"
STANDING = """{ articles { nodes { standing(group: "show") { terms { value } } } } }"""


def test_weights_by_default_are_those_of_the_policy_as_they_are_written():
    """An index has its weights as a text, and is computed again where it differs."""
    assert repr(read_settings().policy) == repr(Policy())


def test_commands_change_what_a_server_answers(tmp_path):
    with serving(tmp_path, orders="SCORE,HOT") as live:
        live.ask(POST, live.ask(REGISTER)["data"]["register"]["token"])
        assert (
            live.ask(PAGE % "TIME")["errors"][0]["message"]
            == "TIME is not maintained here; valid orders are SCORE, HOT"
        )

        reindexed = run("reindex", data_dir=tmp_path, orders="SCORE,TIME")
        assert (reindexed.stdout, reindexed.stderr) == ("orders: SCORE, TIME\n", "")
        until(lambda: "data" in live.ask(PAGE % "TIME"))
        assert live.ask(PAGE % "TIME")["data"]["articles"]["totalCount"] == 1
        assert live.ask(PAGE % "HOT")["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"

        changed = run("ranking", "set", "Show", "vote_score=100", "best_z=site", data_dir=tmp_path)
        assert changed.stdout.startswith("show: vote_score=100 hot_seconds=45000 ")
        until(lambda: live.ask(STANDING)["data"]["articles"]["nodes"][0]["standing"]["terms"][1]["value"] == 100)
        shown = run("ranking", "show", data_dir=tmp_path).stdout.splitlines()
        assert [line.split()[:2] for line in shown] == [
            ["orders:", "SCORE,"],
            ["site:", "vote_score=432"],
            ["show:", "vote_score=100"],
        ]

    with serving(tmp_path, orders="SCORE,HOT") as live:
        assert live.ask(PAGE % "TIME")["data"]["articles"]["totalCount"] == 1
        assert (
            "UPVOTE_ORDERS=SCORE,HOT: the orders of this store are SCORE,TIME; `reindex` changes them"
            in live.errors.read_text()
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ranking", "set", "show", "vote_score=-1"), "UPVOTE_VOTE_SCORE=-1: Input should be greater than 0"),
        (("ranking", "set", "show", "vote_score"), "UPVOTE_VOTE_SCORE=: Input should be a valid number"),
        (("ranking", "set", "show", "votes=1"), "votes is not a weight; the weights are vote_score, hot_seconds"),
        (("ranking", "show", "no group"), "a group's name is 1 to 50"),
        (("ranking", "set", "Site", "vote_score=1"), "the weights of the site are the settings UPVOTE_VOTE_SCORE, "),
    ],
)
def test_wrong_weights_are_reported(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)

    assert message in capsys.readouterr().err


def test_order_of_pages_that_the_store_lacks_stops_the_start(tmp_path):
    with serving(tmp_path, orders="SCORE,TIME"):
        pass

    with serving(tmp_path, front_order="TIME", site_orders="TIME,SCORE"):
        pass
    for setting in ("front_order", "site_orders"):
        started = run("serve", port=0, data_dir=tmp_path, **{setting: "HOT"})

        assert started.returncode == 2
        assert started.stderr.splitlines()[-1] == (
            f"upvote: UPVOTE_{setting.upper()}=HOT: the orders of this store are SCORE,TIME; `reindex` changes them"
        )


def test_empty_orders_of_pages_are_not_set(monkeypatch):
    for name in ("FRONT_ORDER", "SITE_ORDERS"):
        monkeypatch.setenv(f"UPVOTE_{name}", "")

    assert read_settings().orders_of_pages == SiteOrders()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"FRONT_ORDER": "hot"}, "UPVOTE_FRONT_ORDER=hot: the orders are SCORE, TIME, VOTES"),
        ({"FRONT_ORDER": "HOT,TIME"}, "UPVOTE_FRONT_ORDER=HOT,TIME: it is one order"),
        ({"SITE_ORDERS": "HOT;TIME"}, "UPVOTE_SITE_ORDERS=HOT;TIME: the orders are SCORE, TIME, VOTES"),
        (
            {"SITE_ORDERS": "TIME,SCORE,BEST,VOTES"},
            "UPVOTE_SITE_ORDERS=TIME,SCORE,BEST,VOTES: at most 4 are shown, with HOT, which is that of the front page",
        ),
    ],
)
def test_wrong_orders_of_pages_are_reported(settings, message, monkeypatch, capsys):
    for name, value in settings.items():
        monkeypatch.setenv(f"UPVOTE_{name}", value)

    assert main(["serve"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("orders", ["NEWEST", "SCORE;TIME", ","])
def test_wrong_orders_are_reported(orders, monkeypatch, capsys):
    monkeypatch.setenv("UPVOTE_ORDERS", orders)

    assert main(["reindex"]) == 2
    assert f"UPVOTE_ORDERS={orders}: the orders are SCORE, TIME, VOTES" in capsys.readouterr().err
