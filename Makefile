# The two commands of the README, and what they are made of. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BIN := .venv/bin
UV := uv==0.13.9
STAMPS := .stamps
# The Kubernetes minor of `make kube-tools`; devkube/real/tools has a module for each.
KUBE ?= 1.37
# Tests in parallel: as many workers as cores, two at least.
JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n > 2 ? n : 2 )))

.PHONY: help kube-tools test-kubernetes demo-kubernetes demo demo-logins demo-reset test gates pytest assets lock screens clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 26

demo: $(STAMPS)/demo $(STAMPS)/assets ## start everything on this machine and print the logins
	@exec $(BIN)/python -m devkube.demo start

demo-logins: ## show the demo's address and logins again
	@exec $(BIN)/python -m devkube.demo logins

demo-reset: ## forget the demo's data; the next start is a new installation
	@exec $(BIN)/python -m devkube.demo reset

kube-tools: .venv/bin/python ## build a real Kubernetes for its tests (KUBE=1.34: another minor); 10 minutes once
	@exec $(BIN)/python -m devkube.real.build --kube $(KUBE)

test-kubernetes: $(STAMPS)/test kube-tools ## every test that needs the real Kubernetes; none is left out (KUBE=1.34 as above)
	@KUBERNETES_REQUIRED=1 DEVKUBE_KUBE=$(KUBE) exec $(BIN)/python -m pytest -m kubernetes -p no:randomly

demo-kubernetes: $(STAMPS)/demo $(STAMPS)/assets kube-tools ## the same demo on three real control planes (first builds them)
	@DEMO_HOME=$${DEMO_HOME:-.demo-kubernetes} exec $(BIN)/python -m devkube.demo start --real

test: $(STAMPS)/test $(STAMPS)/assets $(STAMPS)/browser gates pytest ## every gate and every test

gates: $(STAMPS)/test
	@set -x
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.support.gates
	. ./.ci/node.sh
	node --test --test-reporter=dot static/js/tests/*.test.js

# The browser's tests run by themselves: their driver keeps an event loop that asynchronous tests cannot share.
pytest: $(STAMPS)/test
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --ignore=tests/browser
	$(BIN)/python -m pytest tests/browser

assets: $(STAMPS)/assets ## bundle styles and scripts, compile the Chinese catalogue

screens: $(STAMPS)/test $(STAMPS)/assets $(STAMPS)/browser ## photograph every page into .screens/
	@SCREENS_FOLDER=.screens $(BIN)/python -m pytest tests/browser/test_looks.py -q

lock: $(STAMPS)/demo ## renew the lock files from the requirements files
	@for set in "" -demo -test; do
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	    requirements$$set.txt -o requirements$$set.lock
	done

clean: ## remove what was built; data of the demo stays
	@rm -rf .venv node_modules static/build $(STAMPS)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 …"; exit 1; }
	echo "· making .venv"
	$(PYTHON) -m venv .venv
	# uv is only the faster installer: where it cannot be had, pip does the same.
	$(BIN)/pip install -q --disable-pip-version-check $(UV) || echo "· uv is not to be had, pip will do"

define install
	@mkdir -p $(STAMPS)
	echo "· installing $(1)"
	if [ -x $(BIN)/uv ] && $(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r $(1); then :; else
	  $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r $(1); fi
	touch $@
endef

$(STAMPS)/demo: .venv/bin/python requirements-demo.lock
	$(call install,requirements-demo.lock)

$(STAMPS)/test: .venv/bin/python requirements-test.lock
	$(call install,requirements-test.lock)
	@touch $(STAMPS)/demo

$(STAMPS)/assets: $(STAMPS)/demo package-lock.json package.json static/build.mjs $(wildcard static/css/*.css static/js/*.js) $(wildcard locale/*/LC_MESSAGES/*.po)
	@echo "· building the front end"
	. ./.ci/node.sh
	npm ci --no-audit --no-fund --loglevel=error
	npm run --silent build
	$(BIN)/pybabel -q compile --domain django --directory locale
	touch $@

$(STAMPS)/browser: $(STAMPS)/test
	@./.ci/browser.sh
	touch $@
