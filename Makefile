# Presage: set-up, tests, notebooks. `make help` lists the targets.

GO    ?= go
BUILD := $(CURDIR)/build
TOOL  := $(GO) tool -modfile=tools.mod

NOTEBOOKS  := $(sort $(wildcard notebooks/*.ipynb))
QUICKSTART := notebooks/quickstart.ipynb
NBCHECK    := $(GO) run ./perf/cmd/nbcheck
COUNT      ?= 10

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Stamping a program with its commit fails without git, or in a clone that
# another user owns, and nothing here reads the stamp.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

.NOTPARALLEL:
.PHONY: help demo test lint unit notebook-test browser-test notebooks validation judge practice fresh study study-times sampled metasim spmv infer infer-long host native iperf-host iperf-simulated kernel completion deps bench fuzz random objdump soak race race-short fuzz-short clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Most of a first run is compilation. Without cgo, and with the flags with which the kernel
# and its cells are built, the standard library is compiled once; compilers that collect
# garbage more rarely take a quarter less processor time, and such of one thread each, as
# many at a time as there are processors, a twelfth less again.
COMPILED := github.com/janpfeifer/gonb golang.org/x/tools/cmd/goimports ./perf/cmd/nbsetup ./perf/cmd/nbcheck ./perf/notebook ./perf/study/growth

demo: export CGO_ENABLED := 0
demo: export GOFLAGS := $(GOFLAGS) -ldflags=-s -gcflags=all=-dwarf=false
demo: export GOGC := 1000
demo: ## install Jupyter where it can, run the quickstart, show its result
	@bash .ci/install-deps.sh demo
	@echo "compiling ..."
	@GOMAXPROCS=1 GOGC=off GOMEMLIMIT=400MiB $(GO) list -export -p $$(getconf _NPROCESSORS_ONLN) $(COMPILED) >/dev/null
	@$(GO) run ./perf/cmd/nbsetup
	@echo "running $(QUICKSTART) ..."
	@$(NBCHECK) --execute --output $(BUILD)/quickstart.ipynb --html $(BUILD) --show headline $(QUICKSTART)

test: lint unit race-short fuzz-short notebook-test ## everything: lint gates, Go tests, some under the race detector, a little fuzzing, notebooks

lint: ## gofumpt, vet, staticcheck, go.mod tidy, shellcheck, govulncheck
	@bash .ci/lint.sh

unit: ## Go tests, import directions and house rules among them
	@bash .ci/processor.sh
	$(GO) test -timeout 20m ./...

# New inputs are kept in the cache of the go command, and go on from there. Inputs that
# fail stand in testdata/fuzz of the package, and are part of the unit tests from then on.
DURATION ?= 1h
TARGETS  ?= .

fuzz: ## fuzz every reader and the engine in turn, for DURATION (1h) altogether, or TARGETS alone
	nice bash .ci/fuzz.sh $(DURATION) '$(TARGETS)'

fuzz-short: ## fuzz the engine and two readers, ten seconds each
	bash .ci/fuzz.sh 40s 'engine/rv64.Fuzz(JIT|Snapshot)$$|objfile.FuzzRead$$|yamlfile.FuzzDecode$$'

PROGRAMS ?= 1000000
SEED     ?= 1

random: ## PROGRAMS (a million) random RISC-V programs: interpreter, translator and qemu agree
	cd perf/engine/rv64 && nice $(GO) test -run TestManyRandomPrograms -v -timeout 0 . -programs $(PROGRAMS) -seed $(SEED)

objdump: ## every instruction of the system's libraries and programs: the decoder of x86-64 and objdump agree
	nice $(GO) test -tags slow -run 'TestSystemFiles|TestCompiled|TestGenerated' -v -timeout 0 ./perf/isa/amd64

SOAK ?= 1h

soak: ## predict in three processes on one store for SOAK (1h), and kill them; same bytes, flat memory
	cd perf/cmd/presage && nice $(GO) test -run TestSoak -v -timeout 0 . -soak $(SOAK)

race: ## the Go tests of all packages under the race detector, slow ones shortened
	nice $(GO) test -race -short -timeout 20m ./...

# Those that share memory between goroutines of their own, or start and end processes.
RACY = campaign/... explore infer internal/child predict reuse scaling sched simpoint spmv store subject trace/...

race-short: ## the Go tests of packages with goroutines of their own under the race detector
	nice $(GO) test -race -short -timeout 20m $(RACY:%=./perf/%)

notebook-test: kernel ## judge the committed notebooks, and run the quickstart anew
	$(NBCHECK) $(NOTEBOOKS)
	$(NBCHECK) --execute --output $(BUILD)/quickstart.ipynb --html $(BUILD) $(QUICKSTART)

browser-test: kernel ## drive Jupyter Notebook in a browser without a window: run all cells, move a control
	cd perf/notebook && $(GO) test -run TestJupyter -v -timeout 15m . -jupyter

notebooks: kernel ## run the committed notebooks in place; replaced only if good
	PRESAGE_RECORD=1 $(NBCHECK) --execute --update-prose --timeout 30m $(NOTEBOOKS)
	$(GO) run ./perf/cmd/presage headlines

# The recorded predictions are those of the papers' formula, --method binomial. The
# largest runs take minutes each, once: they are kept in the store. Four times
# the largest training size is 25 times the work for a mesh, so that Sweep3D has
# training sizes of its own for that. Both machines have pages of 16 KB, and index
# caches beyond the first by physical addresses.
VALIDATE = $(GO) run ./perf/cmd/presage validate -q --machine origin2000,itanium2 --method binomial --pages 16384 --summary of

# What a reader without a model goes by: the misses at the largest training size.
LARGEST = $(GO) run ./perf/cmd/presage simulate -q --machine origin2000,itanium2 --pages 16384

validation: judge ## hold predictions against simulation for three programs and a suite, and record it (two hours)
	$(VALIDATE) ./datasets/programs/cg --args "-n {n} -quiet" --train n=20:50:6 --at n=75,100,200 --record datasets/validation/cg.csv
	$(VALIDATE) ./datasets/programs/matmul --args "-n {n} -repeat 2 -quiet" --train n=96,112,128,144,160,192,224 --at n=336,448,896 --record datasets/validation/matmul.csv
	$(VALIDATE) ./datasets/programs/matmul --args "-n {n} -repeat 2 -quiet" --train n=95,110,127,145,162,191,225 --at n=333,450 --record datasets/validation/matmul-odd.csv
	$(VALIDATE) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --train n=20:50:6 --at n=75,100 --record datasets/validation/sweep3d.csv
	$(VALIDATE) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --train n=13,15,18,20,23,25 --at n=38,50,100 --record datasets/validation/sweep3d-25.csv
	$(LARGEST) ./datasets/programs/cg --args "-n {n} -quiet" --sweep n=50 --record datasets/validation/cg-largest.csv
	$(LARGEST) ./datasets/programs/matmul --args "-n {n} -repeat 2 -quiet" --sweep n=224 --record datasets/validation/matmul-largest.csv
	$(LARGEST) ./datasets/programs/matmul --args "-n {n} -repeat 2 -quiet" --sweep n=225 --record datasets/validation/matmul-odd-largest.csv
	$(LARGEST) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --sweep n=50 --record datasets/validation/sweep3d-largest.csv
	$(LARGEST) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --sweep n=25 --record datasets/validation/sweep3d-25-largest.csv

# The closed half of the suite is for the end: make judge HALF=closed.
HALF ?= open

judge: ## hold predictions against simulation on the judging suite, and record it (an hour; goes on where it was interrupted)
	nice $(GO) run ./perf/cmd/presage judge -q datasets/suite/suite.yaml --half $(HALF) --machine origin2000,itanium2,zen4 --record datasets/validation/suite-$(HALF) --headlines datasets/headlines.csv $(if $(filter closed,$(HALF)),--beside datasets/validation/suite-open --together datasets/validation/fresh-again --together datasets/validation/second-again --together datasets/validation/third)
	$(GO) run ./perf/cmd/presage headlines

practice: ## predict and simulate the programs that intervals are calibrated on, and record it (half an hour)
	nice $(GO) run ./perf/cmd/presage judge -q datasets/practice/suite.yaml --machine origin2000,itanium2,zen4 --record datasets/validation/practice

# The first set, datasets/validation/fresh-*, was judged once, at a5dffd84, and the second,
# second-*, at 49ccdf0f: what models have been told since, they know. The third was judged at
# 190b8964, by the models of now.
fresh: ## predict and simulate the programs that were written last by the models of now, and record it (an hour)
	nice $(GO) run ./perf/cmd/presage judge -q datasets/fresh/suite.yaml --half fresh --machine origin2000,itanium2,zen4 --record datasets/validation/fresh-again --again --headlines datasets/headlines.csv --beside datasets/validation/suite-closed
	nice $(GO) run ./perf/cmd/presage judge -q datasets/fresh/second/suite.yaml --half second --machine origin2000,itanium2,zen4 --record datasets/validation/second-again --again --headlines datasets/headlines.csv --beside datasets/validation/suite-closed
	nice $(GO) run ./perf/cmd/presage judge -q datasets/fresh/third/suite.yaml --half third --machine origin2000,itanium2,zen4 --record datasets/validation/third --headlines datasets/headlines.csv --beside datasets/validation/suite-closed
	$(GO) run ./perf/cmd/presage headlines

# Meshes of the training runs were drawn at random between 20 and 50 (Python's
# random.Random(2004).sample(range(20, 51), 7)), and five of those that are judged
# between 46 and 100 (random.Random(2005).sample(range(46, 101), 5)); the others are
# multiples of 4, at which arrays collide in caches more often than at most sizes.
# Large meshes are simulated with the machines' own caches alone. Set-up and checks
# of LU and SP take as long as two steps and more: these do two.
STUDY_SIZES = --train n=20,23,26,31,36,39,45 --at n=12,16,20,24,28,32,40,46,48,50,56,59 --large n=64,74,77,80,100,120,128 --curve n=12:200:4 --time-at n=20,32,48,56
STUDY = $(GO) run ./perf/cmd/presage study -q --machine origin2000,itanium2 --method binomial --pages 16384 $(STUDY_SIZES)
RECIPE = $(GO) run ./perf/cmd/presage study -q --recipe --machine origin2000,itanium2 --train n=20,23,26,31,36,39,45 --at n=46,48,50,56,59 --large n=64,74,77,80,100,120,128
# Times by themselves, of programs, routines and loops; the lines above record them, too.
SCOPE_TIMES = $(GO) run ./perf/cmd/presage study -q --scope-times --machine origin2000,itanium2 --method binomial --train n=20,23,26,31,36,39,45 --curve n=12:200:4 --time-at n=20,32,48,56
SAMPLED = $(GO) run ./perf/cmd/presage study -q --machine origin2000,itanium2 --method binomial --train n=20,23,26,31,36,39,45
SMALL = $(GO) run ./perf/cmd/presage study -q --machine origin2000 --method binomial --pages 16384 --train n=20,23,26,31,36,39,45 --at n=12,16,20,24,28,32,40,46,48 --curve n=12:64:4
# The default method beside the formula, with the programs' own addresses: even meshes alone,
# as LU, BT and SP have rows of an odd number of cells, one more where the mesh is even.
REPLAYED = $(GO) run ./perf/cmd/presage validate -q --machine origin2000,itanium2 --train n=12,14,16,18,20,22,24 --at n=32,40,48 --trained-sizes-only --summary of
ORIGIN_8WAY = datasets/sweep3d_nas/origin2000-8way.yaml

# The same programs as gcc and gfortran make them, whatever folder this is in: results in
# the store are found by the executable's checksum, and debug information names folders.
BUILT = build/study/sweep3d-c build/study/lu-fortran
CROSS = -O2 -g -static -fdebug-prefix-map=$(CURDIR)=. -o $@

build/study/sweep3d-c: $(sort $(wildcard datasets/programs/sweep3d-c/*.[ch]))
	@mkdir -p $(@D)
	riscv64-linux-gnu-gcc $(CROSS) $(filter %.c,$^) -lm

build/study/lu-fortran: $(sort $(wildcard datasets/programs/lu-fortran/*.f90))
	@mkdir -p $(@D)
	riscv64-linux-gnu-gfortran $(CROSS) -J $(@D) $^

study: $(BUILT) ## predict and simulate Sweep3D and NAS's BT, SP and LU, and record it (hours; goes on where it was interrupted)
	$(STUDY) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --record datasets/sweep3d_nas/sweep3d
	$(STUDY) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --record datasets/sweep3d_nas/lu
	$(STUDY) ./datasets/programs/lu --args "-n {n} -iterations 2 -order hyperplane -quiet" --record datasets/sweep3d_nas/lu-hp
	$(STUDY) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --record datasets/sweep3d_nas/bt-2.3
	$(STUDY) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 3.0 -quiet" --record datasets/sweep3d_nas/bt-3.0
	$(STUDY) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --record datasets/sweep3d_nas/sp-2.3
	$(STUDY) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 3.0 -quiet" --record datasets/sweep3d_nas/sp-3.0
	$(STUDY) build/study/sweep3d-c --args "-n {n} -iterations 1 -quiet" --record datasets/sweep3d_nas/sweep3d-c
	$(STUDY) build/study/lu-fortran --args "-n {n} -iterations 2 -quiet" --record datasets/sweep3d_nas/lu-fortran
	$(RECIPE) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --record datasets/sweep3d_nas/sweep3d
	$(RECIPE) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --record datasets/sweep3d_nas/lu
	$(RECIPE) ./datasets/programs/lu --args "-n {n} -iterations 2 -order hyperplane -quiet" --record datasets/sweep3d_nas/lu-hp
	$(RECIPE) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --record datasets/sweep3d_nas/bt-2.3
	$(RECIPE) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 3.0 -quiet" --record datasets/sweep3d_nas/bt-3.0
	$(RECIPE) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --record datasets/sweep3d_nas/sp-2.3
	$(RECIPE) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 3.0 -quiet" --record datasets/sweep3d_nas/sp-3.0
	$(SMALL) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 3.0 -quiet" --record datasets/sweep3d_nas/sp-3.0-sized
	$(SMALL) ./datasets/programs/sp --args "-n {n} -max 64 -iterations 2 -structure 3.0 -quiet" --record datasets/sweep3d_nas/sp-3.0-max64
	$(GO) run ./perf/cmd/presage study -q ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --machine origin2000,$(ORIGIN_8WAY) --method binomial --pages 16384 --train n=20,23,26,31,36,39,45 --at n=32:56:2 --curve n=32:56:1 --record datasets/sweep3d_nas/sweep3d-ways
	$(LARGEST) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --sweep n=45 --record datasets/sweep3d_nas/sweep3d-largest.csv
	$(LARGEST) build/study/sweep3d-c --args "-n {n} -iterations 1 -quiet" --sweep n=45 --record datasets/sweep3d_nas/sweep3d-c-largest.csv
	$(LARGEST) build/study/lu-fortran --args "-n {n} -iterations 2 -quiet" --sweep n=45 --record datasets/sweep3d_nas/lu-fortran-largest.csv
	$(LARGEST) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --sweep n=45 --record datasets/sweep3d_nas/lu-largest.csv
	$(LARGEST) ./datasets/programs/lu --args "-n {n} -iterations 2 -order hyperplane -quiet" --sweep n=45 --record datasets/sweep3d_nas/lu-hp-largest.csv
	$(LARGEST) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --sweep n=45 --record datasets/sweep3d_nas/bt-2.3-largest.csv
	$(LARGEST) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 3.0 -quiet" --sweep n=45 --record datasets/sweep3d_nas/bt-3.0-largest.csv
	$(LARGEST) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --sweep n=45 --record datasets/sweep3d_nas/sp-2.3-largest.csv
	$(LARGEST) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 3.0 -quiet" --sweep n=45 --record datasets/sweep3d_nas/sp-3.0-largest.csv
	$(REPLAYED) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --record datasets/sweep3d_nas/sweep3d-replayed.csv
	$(REPLAYED) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --method binomial --record datasets/sweep3d_nas/sweep3d-formula.csv
	$(REPLAYED) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --record datasets/sweep3d_nas/lu-replayed.csv
	$(REPLAYED) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --method binomial --record datasets/sweep3d_nas/lu-formula.csv
	$(REPLAYED) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --record datasets/sweep3d_nas/bt-2.3-replayed.csv
	$(REPLAYED) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --method binomial --record datasets/sweep3d_nas/bt-2.3-formula.csv
	$(REPLAYED) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --record datasets/sweep3d_nas/sp-2.3-replayed.csv
	$(REPLAYED) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --method binomial --record datasets/sweep3d_nas/sp-2.3-formula.csv
	$(REPLAYED) build/study/sweep3d-c --args "-n {n} -iterations 1 -quiet" --method binomial --record datasets/sweep3d_nas/sweep3d-c-formula.csv
	$(REPLAYED) build/study/lu-fortran --args "-n {n} -iterations 2 -quiet" --method binomial --record datasets/sweep3d_nas/lu-fortran-formula.csv

study-times: $(BUILT) ## predict and simulate the time of the study's programs, their routines and loops alone, and record it (an hour or two)
	$(SCOPE_TIMES) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --record datasets/sweep3d_nas/sweep3d
	$(SCOPE_TIMES) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --record datasets/sweep3d_nas/lu
	$(SCOPE_TIMES) ./datasets/programs/lu --args "-n {n} -iterations 2 -order hyperplane -quiet" --record datasets/sweep3d_nas/lu-hp
	$(SCOPE_TIMES) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --record datasets/sweep3d_nas/bt-2.3
	$(SCOPE_TIMES) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 3.0 -quiet" --record datasets/sweep3d_nas/bt-3.0
	$(SCOPE_TIMES) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --record datasets/sweep3d_nas/sp-2.3
	$(SCOPE_TIMES) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 3.0 -quiet" --record datasets/sweep3d_nas/sp-3.0
	$(SCOPE_TIMES) build/study/sweep3d-c --args "-n {n} -iterations 1 -quiet" --record datasets/sweep3d_nas/sweep3d-c
	$(SCOPE_TIMES) build/study/lu-fortran --args "-n {n} -iterations 2 -quiet" --record datasets/sweep3d_nas/lu-fortran

sampled: ## simulate intervals of runs of Sweep3D, LU, BT and SP too long to be simulated as a whole, and record them beside predictions (half an hour of a core; goes on where it was interrupted)
	$(SAMPLED) ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --sample-at n=48,56,80,100,120,160,200 --record datasets/sweep3d_nas/sweep3d
	$(SAMPLED) ./datasets/programs/lu --args "-n {n} -iterations 2 -quiet" --sample-at n=48,56,100,120 --record datasets/sweep3d_nas/lu
	$(SAMPLED) ./datasets/programs/bt --args "-n {n} -iterations 1 -structure 2.3 -quiet" --sample-at n=48,56,100,120 --record datasets/sweep3d_nas/bt-2.3
	$(SAMPLED) ./datasets/programs/sp --args "-n {n} -iterations 2 -structure 2.3 -quiet" --sample-at n=48,56,100,120 --record datasets/sweep3d_nas/sp-2.3
	$(GO) run ./perf/cmd/presage simulate -q --time --machine origin2000,itanium2 ./datasets/programs/cg --args "-n {n} -quiet" --sweep n=28 --record datasets/sweep3d_nas/cg-times.csv
	$(GO) run ./perf/cmd/presage simulate -q --time --machine origin2000,itanium2 --intervals 200 ./datasets/programs/cg --args "-n {n} -quiet" --sweep n=28 --record datasets/sweep3d_nas/cg-sampled.csv

METASIM = $(GO) run ./perf/cmd/presage metasim --machine datasets/metasim/power3.yaml

metasim: ## simulate parts of eleven runs, with and without histories, and all of them, and record it (an hour and a half of processor time; goes on where it was interrupted)
	$(METASIM) ./datasets/programs/cg --args "-n 80 -iterations 25 -quiet" --record datasets/metasim/cg
	$(METASIM) ./datasets/programs/matmul --args "-n 250 -repeat 10 -quiet" --record datasets/metasim/matmul
	$(METASIM) ./datasets/programs/sweep3d --args "-n 50 -quiet" --record datasets/metasim/sweep3d
	$(METASIM) ./datasets/programs/is --args "-class A -quiet" --record datasets/metasim/is.A
	$(METASIM) ./datasets/programs/npbcg --args "-class A -quiet" --record datasets/metasim/cg.A
	$(METASIM) ./datasets/programs/ep --args "-class A -quiet" --record datasets/metasim/ep.A
	$(METASIM) ./datasets/programs/mg --args "-class A -quiet" --record datasets/metasim/mg.A
	$(METASIM) ./datasets/programs/bt --args "-class W -structure 2.3 -quiet" --record datasets/metasim/bt.W
	$(METASIM) ./datasets/programs/sp --args "-class W -structure 2.3 -quiet" --record datasets/metasim/sp.W
	$(METASIM) ./datasets/programs/lu --args "-class W -quiet" --record datasets/metasim/lu.W
	$(METASIM) ./datasets/programs/compressor --args "-n 4096 -quiet" --record datasets/metasim/compressor
	$(METASIM) ./datasets/programs/npbcg --args "-class A -ranks 4 -rank {rank} -quiet" --ranks 4 --record datasets/metasim/cg.A.4
	$(METASIM) ./datasets/programs/npbcg --args "-class A -ranks 8 -rank {rank} -quiet" --ranks 8 --record datasets/metasim/cg.A.8
	$(METASIM) ./datasets/programs/npbcg --args "-class A -ranks 16 -rank {rank} -quiet" --ranks 16 --record datasets/metasim/cg.A.16

spmv: ## tune eleven sparse matrices and caches, by models and by simulation, and record it (an hour; goes on where it was interrupted)
	$(GO) run ./perf/cmd/presage spmv study --matrices datasets/spmv --record datasets/spmv
	$(GO) run ./perf/cmd/presage spmv study --only poisson2d --only poisson3d --only elastic3d --parts matrices --parts fill --parts samples --parts tuning --parts native-kernels --record datasets/spmv/families

host: ## measure this machine and two programs on it, and record it
	$(GO) run ./perf/cmd/presage calibrate -o datasets/host/epyc.yaml
	$(GO) run ./perf/cmd/presage measure ./datasets/programs/sweep3d --args "-n {n} -iterations 1 -quiet" --sweep n=24,32,40,52,64,80,100 --repeats 15 --record datasets/host/sweep3d.csv
	$(GO) run ./perf/cmd/presage measure ./datasets/programs/matmul --args "-n {n} -repeat 2 -quiet" --sweep n=160,224,320,448,640,896 --repeats 15 --record datasets/host/matmul.csv

# Names of the description and of the times: `make native HOST=genoa TIMES=genoa` keeps
# those that there are.
HOST  := host
TIMES := walltime
native: ## measure this machine, and hold predicted wall times of native programs against measured ones, and record it (half an hour)
	$(GO) build -o $(BUILD)/presage ./perf/cmd/presage
	$$(chrt -f 10 true 2>/dev/null && echo chrt -f 10) $(BUILD)/presage calibrate --passes 10 -o datasets/native/$(HOST).yaml
	$(BUILD)/presage walltime datasets/native --machine datasets/native/$(HOST).yaml --prefix "$$(chrt -f 10 true 2>/dev/null && echo chrt -f 10)" --record datasets/native/$(TIMES)

infer: ## simulate programs on random architectures, infer models of both, and record it (three quarters of an hour; goes on where it was interrupted)
	$(GO) run ./perf/cmd/presage infer campaign --record datasets/inferred
	$(GO) run ./perf/cmd/presage infer distances -q
	for v in limits paper; do \
		$(GO) run ./perf/cmd/presage infer study --variables $$v --record datasets/inferred/$$v && \
		$(GO) run ./perf/cmd/presage infer baselines --variables $$v --left-out --script datasets/inferred/baselines.R --record datasets/inferred/$$v || exit 1; \
	done
	for v in limits paper; do \
		$(GO) run ./perf/cmd/presage infer study --variables $$v --hierarchical --record datasets/inferred/$$v-hierarchical || exit 1; \
	done
	$(GO) run ./perf/cmd/presage infer study --variables portable --record datasets/inferred/portable
	$(GO) run ./perf/cmd/presage infer study --variables portable --searched --known --record datasets/inferred/searched
	$(GO) run ./perf/cmd/presage infer study --variables portable --joint --population 40 --generations 12 --record datasets/inferred/joint
	$(GO) run ./perf/cmd/presage infer study --variables portable --known --ridge 3 --record datasets/inferred/ridge
	$(GO) run ./perf/cmd/presage infer study --variables portable --process --record datasets/inferred/process
	$(GO) run ./perf/cmd/presage infer study --variables portable --process --products 3 --record datasets/inferred/process-3
	$(GO) run ./perf/cmd/presage infer study --variables histograms --record datasets/inferred/histograms
	$(GO) run ./perf/cmd/presage infer study --variables histograms --products 3 --record datasets/inferred/histograms-3
	$(GO) run ./perf/cmd/presage infer study --variables counted --record datasets/inferred/counted

infer-long: ## the same with shards of ten million instructions, and of one million beside them, of fewer programs (two hours on one core; goes on where it was interrupted)
	for l in 10000000:ten-million 1000000:million; do \
		d=datasets/inferred/long/$${l#*:}; \
		$(GO) run ./perf/cmd/presage infer campaign --subjects datasets/inferred/long/subjects.yaml --shards 1 --train 24 --length $${l%:*} --record $$d && \
		$(GO) run ./perf/cmd/presage infer distances -q --data $$d --subjects datasets/inferred/long/subjects.yaml --length $${l%:*} && \
		$(GO) run ./perf/cmd/presage infer study --known --data $$d --variables portable --record $$d/portable && \
		$(GO) run ./perf/cmd/presage infer study --data $$d --variables portable --process --record $$d/process && \
		$(GO) run ./perf/cmd/presage infer study --data $$d --variables histograms --record $$d/histograms || exit 1; \
	done

# At real-time priority, where that is allowed, others cannot take the processor in
# the middle of a run. The runs alone: compilers at that priority can block a machine.
iperf-host: ## time the kernel of IPERF on this machine as several compilers build it, and record it (goes on where it was interrupted)
	$(GO) build -o $(BUILD)/presage ./perf/cmd/presage
	$(BUILD)/presage time-kernels datasets/iperf/builds.csv --sweep n=8:800:8 --prefix "$$(chrt -f 10 true 2>/dev/null && echo chrt -f 10)" --record datasets/iperf/host.csv

iperf-simulated: ## time the kernel of IPERF on four simulated SPARCs, and record it (half an hour of processor time; goes on where it was interrupted)
	$(GO) run ./perf/cmd/presage simulate-kernels datasets/programs/iperf --variants datasets/iperf/variants.csv --sweep n=8:800:8 --record datasets/iperf/simulated.csv
	$(GO) run ./perf/cmd/presage simulate-kernels datasets/programs/iperf --variants datasets/iperf/variants-ji.csv --sweep n=8:800:8 --machine ultrasparc-1 --record datasets/iperf/simulated-ji.csv

kernel: ## install the pinned notebook kernel
	@$(GO) run ./perf/cmd/nbsetup

completion: ## install the notebook kernel with gopls: completion and help in cells
	$(GO) run ./perf/cmd/nbsetup --completion

deps: ## install what all the tests need (Debian, Ubuntu; macOS: Jupyter only)
	@bash .ci/install-deps.sh test

bench: ## Go benchmarks, COUNT times, summarised by benchstat
	@mkdir -p $(BUILD)
	$(GO) test -run '^$$' -bench . -count $(COUNT) ./... | tee $(BUILD)/bench.txt
	$(TOOL) benchstat $(BUILD)/bench.txt

clean: ## remove build/; stored profiles stay
	rm -rf $(BUILD)
