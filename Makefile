PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
INSTALL ?= $(BIN)/pip install --quiet --disable-pip-version-check
SAYING = "Setting up $(VENV), once: pip installs in silence, for some minutes; all of it takes about 800 MB."

SERVERS_DIR ?= .servers
SERVERS = $(abspath $(SERVERS_DIR))

MODELS_DIR ?= .models
MODELS = $(abspath $(MODELS_DIR))

TOOLS = .servers/tools
RAY = .ray
PIN = $(abspath $(TOOLS))/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-config \
	--no-emit-index-url --custom-compile-command "make pins"
AUDITED = --strict --require-hashes --disable-pip --progress-spinner off -r requirements.txt -r requirements-dev.txt
# diskcache unpickles what lies in its folder; no release mends it. vpp/llm/cache.py refuses every pickle, and tests/llm/test_cache.py
# plants some. Nothing else is let pass.
LET_PASS = --ignore-vuln CVE-2025-69872

.PHONY: run test test-servers models test-models rivals test-gguf test-ray axe check pins audit format mutants example bench install-check pictures clean

run: $(VENV)/app.done ## set up and serve the app on 127.0.0.1:8501
	$(BIN)/streamlit run app.py

test: $(VENV)/dev.done $(if $(shell command -v npm),axe) ## set up and run every test; those in a browser where Chromium and npm are installed
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-servers: $(VENV)/dev.done $(SERVERS)/vllm.done $(SERVERS)/tf.done $(SERVERS)/litellm.done $(SERVERS)/mlflow.done $(SERVERS)/tiny/config.json $(MODELS)/models.done ## whole runs against vLLM, transformers serve, LiteLLM and llama.cpp, exports to MLflow, set up in SERVERS_DIR (.servers): 8 GB once
	SERVERS_DIR=$(SERVERS) MODELS_DIR=$(MODELS) $(BIN)/python -m pytest tests/servers --ignore tests/servers/test_gguf.py

test-gguf: $(VENV)/local.done $(MODELS)/models.done ## whole runs on a model file, SmolLM2-135M
	MODELS_DIR=$(MODELS) $(BIN)/python -m pytest tests/servers/test_gguf.py

models: $(MODELS)/models.done ## get small language models and a llama.cpp server for them, set up in MODELS_DIR (.models): 1.8 GB once

test-models: $(VENV)/dev.done $(MODELS)/qwen-1.5b/config.json ## whole runs on a real language model in vLLM, on two cores under 45 minutes
	SERVERS_DIR=$(SERVERS) MODELS_DIR=$(MODELS) $(BIN)/python -m pytest tests/models

rivals: $(VENV)/dev.done $(MODELS)/rivals.done ## GEPA and HypoGeniC on the rows of the run RUN, with MODEL at BASE_URL
	PYTHONPATH=$(MODELS)/rivals $(BIN)/python -m tests.models.rivals $(RUN) --base-url $(BASE_URL) --model $(MODEL)

test-ray: $(RAY)/ray.done ## sweeps on a Ray of this machine, set up in .ray: 1.5 GB once
	$(RAY)/bin/python -m pytest tests/sweeps/test_ray.py

axe: tests/node_modules/axe-core/axe.min.js ## get axe-core, which tests of accessibility need

check: $(VENV)/dev.done ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers auto

format: $(VENV)/dev.done ## put the code in form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pins: $(TOOLS)/tools.done ## work out every package that .ci/pins/*.in need, for Python 3.11 to 3.14 on any system, with hashes
	cd .ci/pins && $(PIN) app.in -o ../../requirements.txt
	cd .ci/pins && $(PIN) login.in -o ../../requirements-login.txt
	cd .ci/pins && $(PIN) dev.in -o ../../requirements-dev.txt
	cd .ci/pins && $(PIN) ray.in -o ../../requirements-ray.txt
	cd .ci/pins && $(PIN) local.in -o ../../requirements-local.txt
	cd .ci/pins && $(PIN) tools.in -o tools.txt

audit: $(TOOLS)/tools.done ## look for known holes in every pinned package; asks the advisory database
	$(TOOLS)/bin/pip-audit $(AUDITED) $(LET_PASS)

mutants: $(VENV)/dev.done ## plant faults in the code, one at a time: each must make a test fail
	$(BIN)/python -m tests.mutants

example: $(VENV)/dev.done ## make the demo model's shipped runs anew
	$(BIN)/python -m tests.example

bench: $(VENV)/dev.done ## the ratios of docs/performance.md, in under 8 minutes on two quiet cores
	$(BIN)/python -m tests.performance --write

install-check: $(VENV)/dev.done ## build the package, install it in an empty environment, and use it there
	$(BIN)/python -m tests.install_check

pictures: $(VENV)/dev.done ## photograph the app for docs/pictures
	$(BIN)/python -m tests.pictures

clean: ## remove what was set up; runs stay
	rm -rf $(VENV) .servers .ray .models tests/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed: make PYTHON=python3.11')"
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/app.done: requirements.txt | $(BIN)/python
	@echo $(SAYING)
	$(INSTALL) -r requirements.txt
	touch $@

$(VENV)/dev.done: requirements.txt requirements-dev.txt | $(BIN)/python
	@echo $(SAYING)
	$(INSTALL) --no-compile -r requirements-dev.txt
	touch $@ $(VENV)/app.done

$(VENV)/local.done: $(VENV)/dev.done requirements-local.txt
	$(INSTALL) -r requirements-local.txt
	touch $@

$(TOOLS)/tools.done: .ci/pins/tools.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

tests/node_modules/axe-core/axe.min.js: tests/package-lock.json
	npm ci --prefix tests --loglevel=error --no-audit --no-fund
	touch $@

$(SERVERS)/%.done: tests/servers/%.txt
	rm -rf $(SERVERS)/$*
	$(PYTHON) -m venv $(SERVERS)/$*
	$(SERVERS)/$*/bin/pip install --quiet --disable-pip-version-check -r $<
	$(SERVERS)/$*/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec # of vllm: built for GPUs, they break its import
	touch $@

$(SERVERS)/tiny/config.json: tests/servers/tiny_model.py | $(SERVERS)/tf.done
	$(SERVERS)/tf/bin/python $< $(SERVERS)/tiny vpp/llm/templates/*/*.txt assets/examples/penguins.csv

$(MODELS)/models.done: tests/models/weights.py tests/models/server.txt
	$(PYTHON) -m venv $(MODELS)/venv
	$(MODELS)/venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r tests/models/server.txt
	$(PYTHON) -m tests.models.weights $(MODELS)
	touch $@

$(MODELS)/qwen-1.5b/config.json: tests/models/dequantize.py $(MODELS)/models.done $(SERVERS)/vllm.done
	$(SERVERS)/vllm/bin/python $< $(MODELS)/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf $(@D)
	touch $@

$(MODELS)/rivals.done: tests/models/rivals.txt | $(VENV)/dev.done
	$(INSTALL) --no-deps --target $(MODELS)/rivals -r $<
	touch $@

$(RAY)/ray.done: requirements-dev.txt requirements-ray.txt
	rm -rf $(RAY)
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(RAY)/bin/pip install --quiet --disable-pip-version-check -r requirements-ray.txt
	touch $@
