# Every target installs what it needs. A fresh machine with Python and a network needs only one command.
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
# Where a release will be: registry and repository of the image, and the address below which the archives are.
IMAGE ?=
RELEASES ?=
# Not empty: the image of this machine's architecture gets the compiled core.
COMPILED ?=

# `smoke`: one test for each part, in about a minute. `full`: all tests.
TIER ?= full
TIER_full :=
TIER_smoke := -m smoke
ifeq ($(filter full smoke,$(TIER)),)
$(error TIER is full or smoke, not $(TIER))
endif
# Each worker has its own control plane and mostly waits. With a user's cluster the tests run one after the other.
WORKERS ?= $(if $(KUBECONFIG),0,3)

.PHONY: demo test lint docs compiled test-compiled histories control-plane helm definitions manifests chart e2e matrix soak attack frozen bench format plugin crane release release-check base version requirements vendor clean

$(STAMP): requirements-dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Simulates a cluster of two tenants for a minute, on free ports, and leaves paddock-demo.html.
demo: $(STAMP)
	$(BIN)/paddock demo --verbs-port 0 --admin-port 0 --seconds $(DEMO_SECONDS)

test: $(STAMP)
	$(BIN)/pytest tests --durations=10

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Only `make docs` needs these packages, so they are installed separately.
$(DOCS_STAMP): requirements-docs.txt $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	touch $@

# Builds core and the busy modules of extender with mypyc in .cache/compiled, and prints the path of a Python that runs them.
compiled: $(STAMP)
	@$(BIN)/python -m e2e.programs.compiled

# Scenarios, a tenth of the properties, and what else plays compiled modules. Appended, the sources come behind these.
PLAYED_COMPILED = tests/scenarios tests/properties tests/contract \
  $(addprefix tests/extender/,engine http kube rest telemetry verbs views wire)
test-compiled: compiled
	.cache/compiled/environment/bin/pytest --import-mode=append $(PLAYED_COMPILED) --numprocesses=2

# Builds the documents as a site in .cache/site. Fails on a broken link, and on a page that loads from another host.
docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python -m tests.documents.site .cache/site

# Builds etcd, kube-apiserver, kube-scheduler and kubectl once from Go modules. With PADDOCK_E2E_BIN,
# KUBEBUILDER_ASSETS or KUBECONFIG nothing is built.
control-plane: $(STAMP)
	$(BIN)/python -m e2e.programs.building

# Helm, and the renderer of the tests of the chart, built once from a Go module of their own.
helm: $(STAMP)
	$(BIN)/python -m e2e.programs.helm

# The definitions of the objects of prometheus-operator and cert-manager, copied once from their Go modules.
definitions: $(STAMP)
	$(BIN)/python -m e2e.programs.definitions

# The files of the kustomize overlays, from manifests/chart.
manifests: helm
	$(BIN)/python -m tests.manifests.chart.overlays

# Every combination of the chart, rendered and linted, and the overlays compared with it.
chart: helm
	$(BIN)/pytest tests/manifests/chart

e2e: control-plane helm definitions crane release-check
	$(BIN)/pytest e2e $(TIER_$(TIER)) --numprocesses=$(WORKERS) --dist=loadgroup --timeout=240 --durations=10 -rfEP

# Builds the control plane of each minor version of Kubernetes once, and runs the smoke tier, an installation of each
# mode, and whatever else depends on the version there. MINORS names versions, such as v1.33.13; all by default.
matrix: control-plane helm definitions
	$(BIN)/python -m e2e.matrix $(MINORS)

# Creates and deletes pods for SOAK_SECONDS. Checks Paddock's memory, stalls and audit drift meanwhile.
soak: control-plane
	$(BIN)/python -m e2e.soak --seconds $(SOAK_SECONDS) --seed $(SEED)

# Random histories of the properties: PROPERTY=quota, preemption, ordering, explanation or administration. Each
# COUNT times from SEED on, by JOBS processes; what is played is noted in .cache/histories.txt, and not played again.
histories: $(STAMP)
	$(BIN)/python -m tests.histories --seed $(SEED) --count $(COUNT) --jobs $(JOBS) --property "$(PROPERTY)"

# Attacks with a tenant's token and at the verbs' port, in ROUNDS rounds. Reports whether each attack was held off.
attack: control-plane
	$(BIN)/python -m e2e.attack --rounds $(ROUNDS) --seed $(SEED)

# Stops the leading host for 20 s or more, until the other leads, and lets it continue, with real elections. Checks that no quota is exceeded.
frozen: control-plane
	$(BIN)/python -m e2e.frozen --rounds $(ROUNDS)

bench: control-plane
	$(BIN)/python -m e2e.bench

# `kubectl paddock` as one file in dist, and as an archive. With RELEASES also a manifest for krew.
plugin: $(STAMP)
	$(BIN)/python -m manifests.release.krew dist $(RELEASES)

# crane, built once from its Go module. Tests validate and copy the image with it.
crane: $(STAMP)
	$(BIN)/python -m e2e.tests.release.crane

# All that a release publishes, in dist. Needs IMAGE and RELEASES, and publishes nothing.
release: $(STAMP) $(if $(COMPILED),compiled)
	$(BIN)/python -m manifests.release.build dist --image="$(IMAGE)" --releases="$(RELEASES)" $(if $(COMPILED),--compiled=.cache/compiled/wheels)

# Builds a release twice in different surroundings, and compares every byte. Leaves it in .cache/release/first.
release-check: $(STAMP)
	$(BIN)/python -m manifests.release.check .cache/release

# Pins the present versions of the packages of Debian in the image. Needs a Debian with apt.
base: $(STAMP)
	$(BIN)/python -m manifests.release.debian_lock

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Prints the version, or writes VERSION=X.Y.Z to every file that repeats it.
version: $(STAMP)
	@$(BIN)/python -m manifests.release.version $(VERSION)

# Writes pins and hashes, without the address of any registry.
requirements: $(STAMP)
	$(BIN)/pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --allow-unsafe --extra uvloop --output-file requirements.txt pyproject.toml
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --allow-unsafe --extra uvloop --extra dev --output-file requirements-dev.txt pyproject.toml
	$(BIN)/pip-compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --allow-unsafe --constraint requirements-dev.txt --extra docs --output-file requirements-docs.txt pyproject.toml

# Libraries of the web page from the npm registry, as pinned, with their hashes.
vendor: $(STAMP)
	$(BIN)/python -m tests.extender.page.vendor

clean:
	rm -rf $(VENV) .cache paddock-demo.html
