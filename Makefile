PYTHON ?= python3
BIN = .venv/bin
SOURCES = caches engine store resolvers schema server tests bench

.PHONY: serve demo install check format test test-slow test-cluster soak bench lock explorer

serve: .venv/serve.stamp  ## start the server with a Valkey of its own, which stores data in ./data
	$(BIN)/python -m server serve

demo: .venv/serve.stamp  ## serve a small sample from a temporary store
	$(BIN)/python -m server demo

install: .venv/dev.stamp  ## install everything for serving, checking and testing

check: .venv/dev.stamp  ## check format, lint and types
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy

format: .venv/dev.stamp
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

test: check  ## check first, then the tests against the real server, and those of the store on a cluster too
	$(BIN)/pytest $(TWO_AT_ONCE) --ignore tests/soak --ignore tests/slow
	$(BIN)/pytest $(TWO_AT_ONCE) --store cluster tests/store

test-slow: .venv/dev.stamp  ## random operations beside a model for three minutes, faults, and tests that take long
	$(BIN)/pytest tests/soak $(wildcard tests/slow)

test-cluster: check  ## every test that has a meaning there, on a cluster of six servers
	$(BIN)/pytest --store cluster

soak: .venv/dev.stamp  ## random operations beside a model; SEED=1 again, MINUTES=60 longer, PART=chaos or PART=memory
	$(BIN)/python -m tests.soak$(if $(PART),.$(PART)) $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES))

bench: .venv/dev.stamp  ## compare with other servers, with Node 20 also with those of Node; takes most of an hour
	$(BIN)/python -m bench --workers 1,2
	$(BIN)/python -m bench page varied --articles 1000 --peers strawberry,mercurius,scripted,hand

lock: .venv/dev.stamp  ## renew the lock files from pyproject.toml
	$(BIN)/uv pip compile $(LOCK) pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(LOCK) --extra lab --extra tracing --group dev pyproject.toml -o requirements-dev.lock

explorer:  ## build server/explorer/static from the pinned packages; needs Node 20
	cd server/explorer/build && npm ci && npm run build

TWO_AT_ONCE = --numprocesses 2 --dist loadfile
LOCK = -q --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Upvote needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv .venv

.venv/serve.stamp: requirements.lock pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q -x node_modules caches engine store resolvers schema server
	touch $@

.venv/dev.stamp: requirements-dev.lock .venv/serve.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@
