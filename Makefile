# Every target makes what it needs: on a fresh machine with Python and a network, one command is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs-installed
DEMO_SECONDS ?= 60
SOAK_SECONDS ?= 600
ROUNDS ?= 1
SEED ?= 1
COUNT ?= 1000
JOBS ?= 1

# `smoke`: one test for each part, in about a minute; `full`: all of them.
TIER ?= full
TIER_full :=
TIER_smoke := -m smoke
ifeq ($(filter full smoke,$(TIER)),)
$(error TIER is full or smoke, not $(TIER))
endif
# Each worker has a control plane of its own and waits for most of its time. A user's cluster bears only one.
WORKERS ?= $(if $(KUBECONFIG),0,3)

.PHONY: demo test lint docs histories control-plane helm manifests chart e2e soak attack frozen bench format requirements clean

$(STAMP): requirements-dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# A played cluster of two tenants for a minute; leaves paddock-demo.html. Ports: any that are free.
demo: $(STAMP)
	$(BIN)/paddock demo --verbs-port 0 --admin-port 0 --seconds $(DEMO_SECONDS)

test: $(STAMP)
	$(BIN)/pytest tests --durations=10

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Only `make docs` needs these, so tests do without them.
$(DOCS_STAMP): requirements-docs.txt $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	touch $@

# The documents as a site in .cache/site. It fails on a broken link, and on a page that asks another host for anything.
docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -m tests.documents.site .cache/site

# etcd, kube-apiserver, kube-scheduler and kubectl, built once from Go modules. Nothing is built where
# PADDOCK_E2E_BIN, KUBEBUILDER_ASSETS or KUBECONFIG says where they are.
control-plane: $(STAMP)
	$(BIN)/python -m e2e.programs.building

# Helm, and the renderer of the tests of the chart, built once from a Go module of their own.
helm: $(STAMP)
	$(BIN)/python -m e2e.programs.helm

# The files of the kustomize overlays, from manifests/chart.
manifests: helm
	$(BIN)/python -m tests.manifests.chart.overlays

# Every combination of the chart, rendered and linted, and the overlays compared with it.
chart: helm
	$(BIN)/pytest tests/manifests/chart

e2e: control-plane helm
	$(BIN)/pytest e2e $(TIER_$(TIER)) --numprocesses=$(WORKERS) --dist=loadgroup --timeout=240 --durations=10 -rfEP

# Churn for so long, and Paddock's memory, stalls and audit drift in it.
soak: control-plane
	$(BIN)/python -m e2e.soak --seconds $(SOAK_SECONDS) --seed $(SEED)

# Random histories of the properties: PROPERTY=quota, preemption, ordering or explanation, all by default. Each
# COUNT times from SEED on, by JOBS processes; what is played is noted in .cache/histories.txt, and not played again.
histories: $(STAMP)
	$(BIN)/python -m tests.histories --seed $(SEED) --count $(COUNT) --jobs $(JOBS) --property "$(PROPERTY)"

# A tenant's token and the port of the verbs, in bounded rounds: each attack is held or not.
attack: control-plane
	$(BIN)/python -m e2e.attack --rounds $(ROUNDS) --seed $(SEED)

# A leading host that is stopped for 20 s and goes on, with real elections: nothing above a quota is seen.
frozen: control-plane
	$(BIN)/python -m e2e.frozen --rounds $(ROUNDS)

bench: control-plane
	$(BIN)/python -m e2e.bench

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pins and hashes, without the address of any registry.
requirements: $(STAMP)
	$(BIN)/pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --allow-unsafe --extra uvloop --output-file requirements.txt pyproject.toml
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --allow-unsafe --extra uvloop --extra dev --output-file requirements-dev.txt pyproject.toml
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --allow-unsafe --constraint requirements-dev.txt --extra docs --output-file requirements-docs.txt pyproject.toml

clean:
	rm -rf $(VENV) .cache paddock-demo.html
