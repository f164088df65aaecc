PYTHON ?= python3
BIN = .venv/bin
SOURCES = archive caches database engine store resolvers schema server tests bench

.PHONY: serve demo install check lint format test test-slow test-newest test-cluster soak bench docs lock explorer reader

serve: .venv/serve.stamp  ## start the server with a Valkey of its own, which stores data in ./data
	$(BIN)/upvote serve

demo: .venv/serve.stamp  ## serve a small sample from a temporary store
	$(BIN)/upvote demo

install: .venv/dev.stamp  ## install everything for serving, checking and testing

check: lint  ## check format, lint and types, and that all tests can be imported
	$(BIN)/pytest --collect-only

lint: .venv/dev.stamp
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy

format: .venv/dev.stamp
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

test: lint  ## check format, lint and types, then run the tests against the real server; three processes, as they also wait
	EXAMPLES=few $(BIN)/pytest --numprocesses 3 $(BY_FILE) -m "not slow" --ignore tests/soak --ignore tests/slow --ignore tests/reader

test-slow: .venv/dev.stamp  ## random operations beside a model, mutants, faults, what takes long, and what `make test` leaves out; OF=--third takes a third of the files
	$(BIN)/pytest --numprocesses 2 --dist worksteal tests/soak
	$(BIN)/pytest $(TWO_AT_ONCE) $(OF) tests/slow
	$(BIN)/pytest $(TWO_AT_ONCE) $(OF) tests/reader
	$(BIN)/pytest $(TWO_AT_ONCE) $(OF) -m "hypothesis or many_partitions or slow" --ignore tests/soak --ignore tests/slow --ignore tests/reader
	$(BIN)/pytest $(TWO_AT_ONCE) $(OF) --store cluster tests/store
	$(MAKE) test-newest OF=$(OF)

test-newest: .venv/dev.stamp  ## the tests of the server and the database on the newest CPython of this machine
	$(BIN)/python -m tests.newest_python $(OF)

test-cluster: check  ## every test that has a meaning there, on a cluster of six servers
	$(BIN)/pytest --store cluster

soak: .venv/dev.stamp  ## random operations beside a model; SEED=1 again, MINUTES=60 longer, PART=chaos, kills (KILLS=300, POSTGRES=1) or memory
	$(BIN)/python -m tests.soak$(if $(PART),.$(PART)) $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(KILLS),--kills $(KILLS)) $(if $(POSTGRES),--postgres)

bench: .venv/dev.stamp  ## compare with other servers, with Node 20 also with those of Node; takes most of an hour
	$(BIN)/python -m bench --workers 1,2 || missed=1; \
	$(BIN)/python -m bench page varied --articles 1000 --peers strawberry,mercurius,scripted,hand || missed=1; \
	exit $$missed

docs: .venv/docs.stamp  ## build the documentation into ./site; `make docs SERVE=1` serves it at http://127.0.0.1:8001/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs $(if $(SERVE),serve --dev-addr 127.0.0.1:8001,build --strict)

lock: .venv/dev.stamp  ## renew the lock files from pyproject.toml
	$(BIN)/uv pip compile $(LOCK) pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(LOCK) --extra lab --extra rings --extra tracing --group dev pyproject.toml -o requirements-dev.lock
	$(BIN)/uv pip compile $(LOCK) --constraints requirements-dev.lock --group docs -o requirements-docs.lock

explorer:  ## build server/explorer/static from the pinned packages; needs Node 20
	cd server/explorer/build && npm ci && npm run build

reader:  ## build server/reader/static from reader/; needs Node 20
	cd reader && npm ci && npm run build

WITH_NEWER = make $(or $(MAKECMDGOALS),serve) PYTHON=python3.12
BY_FILE = --dist loadfile --no-loadscope-reorder
TWO_AT_ONCE = --numprocesses 2 $(BY_FILE)
LOCK = -q --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header

# `venv` writes pip last, so an environment without it is incomplete
.venv/bin/pip:
	@command -v $(PYTHON) >/dev/null || { echo 'There is no $(PYTHON): install Python 3.11 or newer' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Upvote needs Python 3.11 or newer, and $(PYTHON) is older: type $(WITH_NEWER)' >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv || \
		{ echo 'On Debian and Ubuntu: apt install $(notdir $(PYTHON))-venv. Then run make again' >&2; exit 1; }

.venv/serve.stamp: requirements.lock pyproject.toml | .venv/bin/pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q -x node_modules archive caches database engine store resolvers schema server
	touch $@

.venv/dev.stamp: requirements-dev.lock .venv/serve.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

.venv/docs.stamp: requirements-docs.lock | .venv/bin/pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	touch $@
