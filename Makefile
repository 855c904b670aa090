# natsd: the targets people use. `make help` lists them.
#
# Only Go and make are needed: everything else is a Go module fetched by the go command.

GO      ?= go
GOFLAGS ?=
export GOFLAGS

BIN     := bin
NATSD   := $(BIN)/natsd
NATSLINT := $(BIN)/natsdlint

# Modules of their own, so that what they need stays out of the main go.mod.
NESTED  := $(patsubst %/go.mod,%,$(wildcard lint/go.mod bench/sublist/go.mod))

# Where `make run` listens, and what else the server is told: make run ARGS='-DV'.
ADDR    ?= 127.0.0.1
PORT    ?= 4222
ARGS    ?=

# The simulator: make sim SEED=7 RUNS=1000 FOR=120s ARGS='-v'.
SEED    ?= 1
RUNS    ?= 200
FOR     ?=

# The mutants: make mutants ONLY=wildcard, PART=0/4 (the first of four parts), PICK=hash/4 (the part of four that a commit's
# hash chooses), SEEDS=500 (for each).
ONLY    ?=
PART    ?=
PICK    ?=
SEEDS   ?=

# The fuzzer: time for each target, and which targets (a regular expression over their names).
FUZZTIME ?= 20s
FUZZ     ?= .

# The benchmark: PEER is the path of a nats-server binary to run beside natsd.
PEER    ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: build
build: ## build bin/natsd
	CGO_ENABLED=0 $(GO) build -trimpath -o $(NATSD) ./cmd/natsd

.PHONY: run
run: build ## build and serve on 127.0.0.1:4222 (ADDR, PORT, ARGS)
	$(NATSD) -a $(ADDR) -p $(PORT) $(ARGS)

# The main module comes last, so that a run ends with its packages.
.PHONY: test
test: ## run all tests of all modules
	@for module in $(NESTED); do \
		echo "== tests of $$module"; \
		(cd $$module && $(GO) build ./... && $(GO) test ./...) || exit 1; \
	done
	@echo "== tests of the main module"
	$(GO) test ./...

.PHONY: lint
lint: ## all linters, and builds for other systems
	@$(MAKE) --no-print-directory --keep-going lint-format lint-vet lint-natsd lint-cross

.PHONY: lint-format
lint-format: # gofmt changes nothing
	@echo "== gofmt"
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l -s $$(find . -name '*.go' -not -path './.git/*' -not -path './$(BIN)/*' -not -path '*/testdata/*')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -s -w):"; echo "$$unformatted"; exit 1; fi

.PHONY: lint-vet
lint-vet: # go vet, every module
	@echo "== go vet"
	$(GO) vet ./...
	@for module in $(NESTED); do (cd $$module && echo "$(GO) vet ./... in $$module" && $(GO) vet ./...) || exit 1; done

.PHONY: lint-natsd
lint-natsd: # determinism, import directions and house style (lint/)
	@echo "== natsdlint"
	cd lint && $(GO) build -o ../$(NATSLINT) ./cmd/natsdlint
	$(NATSLINT) tree .
	$(NATSLINT) ./...
	@for module in $(NESTED); do echo "natsdlint ./... in $$module"; (cd $$module && "$(CURDIR)/$(NATSLINT)" ./...) || exit 1; done

.PHONY: lint-cross
lint-cross: # the systems natsd has no Linux host for must still build
	@echo "== builds for darwin and windows"
	GOOS=darwin CGO_ENABLED=0 $(GO) build ./...
	GOOS=darwin CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows CGO_ENABLED=0 $(GO) build ./...
	GOOS=windows CGO_ENABLED=0 $(GO) vet ./...

.PHONY: sim
sim: build ## run the simulator (SEED, RUNS, FOR, ARGS)
	$(NATSD) sim -seed $(SEED) -runs $(RUNS) $(if $(FOR),-for $(FOR)) $(ARGS)

.PHONY: mutants
mutants: ## plant each known bug and check that the simulator finds it, and the checker of linearizability (ONLY, PART, PICK, SEEDS)
	$(GO) run ./sim/mutants $(if $(ONLY),-only '$(ONLY)') $(if $(PART),-part $(PART)) $(if $(PICK),-pick $(PICK)) \
		$(if $(SEEDS),-seeds $(SEEDS)) $(ARGS)
	$(GO) test ./linearizability -run '^TestMutantsAreFound$$$(if $(ONLY),/$(ONLY))' -count=1 -timeout 30m -args -mutants \
		$(if $(PART)$(PICK),-part $(if $(PICK),$(PICK),$(PART)))

# One target at a time is what `go test -fuzz` takes; they are found by their names. When the time is over, the go command may
# take its own deadline for a failure (golang/go#75804): that says so and nothing else, while a finding names its input.
.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME=20s (FUZZ chooses by name)
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	grep -rEHo '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' --exclude-dir=lint --exclude-dir=testdata . \
	| sed 's/:func / /' | awk '$$2 ~ /$(FUZZ)/' | sort | while read -r file target; do \
		echo "== $$target in $$(dirname $$file)"; \
		{ $(GO) test $$(dirname $$file) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) 2>&1 || echo "exit status of go test: $$?"; } | tee "$$log"; \
		grep -q '^exit status of go test: ' "$$log" || continue; \
		if grep -qx ' *context deadline exceeded' "$$log" && ! grep -qiE 'failing input|seed corpus|panic:|hung or terminated' "$$log"; \
		then echo "the fuzzer found nothing, and took the end of its time for an error"; else exit 1; fi; \
	done

.PHONY: bench
bench: build ## measure natsd; PEER=/path/to/nats-server compares the two
	$(GO) run ./bench -server $(NATSD) $(if $(PEER),-peer $(PEER)) $(ARGS)
	$(if $(PEER),cd bench/sublist && $(GO) test -run '^$$' -bench . -benchmem ./... && $(GO) run .)

# What a release is of: the same source and Go version give the same archives.
VERSION   ?= $(shell sed -n 's/^var version = "\(.*\)"/\1/p' server/version.go)
REVISION  ?= $(shell git rev-parse HEAD 2>/dev/null)
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
LDFLAGS   := -s -w -X github.com/natsd/natsd/server.version=$(VERSION) -X github.com/natsd/natsd/server.revision=$(REVISION)

.PHONY: release
release: ## build bin/release: archives for all systems, and their checksums (VERSION, PLATFORMS)
	GO=$(GO) packaging/release "$(VERSION)" "$(LDFLAGS)" $(PLATFORMS)

.PHONY: image
image: ## build the container image natsd:VERSION with docker
	docker build --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) -t natsd:$(VERSION) .

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN)
