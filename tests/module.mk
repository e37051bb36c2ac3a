# SPDX-License-Identifier: GPL-2.0-or-later
# tests/unit/test_*.c   one program each, linked with the whole toolkit; prints TAP (tests/tap.h)
# tests/cli/*.t         shell scripts, TAP as well (tests/lib.sh), run against $(O)/bin
# tests/programs/*.c    small programs that the scripts run
# tests/tools/*.c       small programs that know the toolkit, which the scripts ask
# tests/lint/*.t        what `make lint` runs
comma         := ,
UNIT_TESTS    := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
TEST_PROGRAMS := $(patsubst tests/programs/%.c,$(O)/tests/programs/%,$(sort $(wildcard tests/programs/*.c)))
CLI_TESTS     := $(sort $(wildcard tests/cli/*.t))
# Minutes of analysis of all sources: make check-static.
STATIC_TESTS  := $(addprefix tests/lint/,analyzer.t clang.t cppcheck.t shellcheck.t)
LINT_TESTS    := $(filter-out $(STATIC_TESTS),$(sort $(wildcard tests/lint/*.t)))

$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBTOOLKIT) $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(LINK_LIBS)

# The model has other code for x86-64-v3 (the tool is built for both): some of its tests once more, with that.
ifneq ($(filter x86_64%,$(ARCH)),)
V3_TESTS      := $(addprefix $(O)/tests/unit/v3/,test_btb test_ways test_model_cachegrind test_model_clock test_model_fuzz test_model_hierarchy test_model_run)
V3_OBJS       := $(patsubst %.c,$(O)/obj/v3/lib/model/%.o,$(lib.model))
UNIT_TESTS    += $(V3_TESTS)
$(O)/obj/v3/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $< x86-64-v3
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -march=x86-64-v3 -mtune=generic -MD -MP -c -o $@ $<
$(O)/tests/unit/v3/%: $(O)/obj/v3/tests/unit/%.o $(O)/obj/tests/unit/v3.o $(V3_OBJS) $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(LINK_LIBS)
endif

# Where inject.h makes allocations fail.
INJECTING     := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(shell grep -l '"inject.h"' tests/unit/*.c))
$(INJECTING): ALL_LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc reallocarray free strdup strndup \
    vasprintf asprintf fopen open_memstream)

# Looks at the tool's translation, where its headers are.
$(O)/obj/tests/unit/test_depend.o: CPPFLAGS += $(if $(VALGRIND_TOOL),-isystem $(valgrind_include))

# tests/tools/*.c: programs linked with the toolkit that scripts ask.
TEST_TOOLS    := $(patsubst tests/tools/%.c,$(O)/tests/tools/%,$(sort $(wildcard tests/tools/*.c)))
$(O)/tests/tools/%: $(O)/obj/tests/tools/%.o $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(LINK_LIBS)
check-built check-cli bench: $(TEST_TOOLS)

# Blocks of real code, interpreted and then executed: all of our own code and libraries, or lines of hexadecimal code
# in the file BLOCKS. make check takes some.
check-blocks: $(O)/tests/unit/test_values_blocks
	$(Q)$< $(or $(BLOCKS),all)
.PHONY: check-blocks

# Without the sanitizers: these run under Valgrind too.
$(O)/tests/programs/%: tests/programs/%.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 -O1 -g -Wall -pthread $(sysroot_flags) -Iinclude -Ilib -o $@ $< $(LDLIBS_$(*F)) -lm

# Writes experiments, as the toolkit does.
LDLIBS_make_experiments := $(LIBTOOLKIT) $(SAN:%=-fsanitize=%) -lz -lpthread
$(O)/tests/programs/make_experiments: $(LIBTOOLKIT)
LDLIBS_phased := -D_GNU_SOURCE lib/speedshop/points.c
$(O)/tests/programs/phased: lib/speedshop/points.c
$(O)/tests/programs/mechanisms: $(wildcard tests/programs/mechanisms/*.h)

.SECONDARY:

# What takes longest begins first, so that the end is not one test alone.
LONGEST      := model-asked prof-html ssrun-branches tutorial model-crowds model-profile prof-optimize confined ssrun-monitor-branches \
    values-module ssrun-monitor ssrun-monitor-http ssrun-model perfdata-record test_sampled_clock dataspace examples files prof-explain \
    faults prof-verify model-processes ssrun-explain-cases model-fast ssrun-watch test_model_run
longest_first = $(foreach t,$(LONGEST),$(filter %/$t %/$t.t,$1)) $(filter-out $(foreach t,$(LONGEST),%/$t %/$t.t),$1)

# T=pattern runs the tests whose path matches; UPDATE=1 rewrites golden files.
run_tests = O=$(O) SAN=$(SAN) MAKE='$(MAKE)' CC='$(CC)' T='$(T)' UPDATE='$(UPDATE)' V='$(V)' tests/run

check: deps
	$(Q)$(MAKE) --no-print-directory check-built
check-built: all $(UNIT_TESTS) $(TEST_PROGRAMS)
	$(Q)$(run_tests) $(call longest_first,$(CLI_TESTS) $(LINT_TESTS) $(UNIT_TESTS))
check-unit: all $(UNIT_TESTS) $(TEST_PROGRAMS)
	$(Q)$(run_tests) $(UNIT_TESTS)
check-cli: all $(TEST_PROGRAMS)
	$(Q)$(run_tests) $(CLI_TESTS)
lint: all
	$(Q)$(run_tests) $(LINT_TESTS) $(STATIC_TESTS)
check-static: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(run_tests) $(STATIC_TESTS)
.PHONY: check-static
.PHONY: check-built

deps:
	$(Q)tests/deps

# The readers of prof -export for compilers and linkers, and what examples/morph.sh builds with: half a gigabyte, without which
# their tests are skipped.
deps-pgo:
	$(Q)PACKAGES='clang-19 llvm-19 lld-19 bolt-19 libclang-rt-19-dev binutils bison dpkg-dev' tests/deps
.PHONY: deps-pgo

# Readers of metrics and profiles that fleets have, without which some tests are skipped.
deps-metrics:
	$(Q)PACKAGES='python3-prometheus-client prometheus golang-go' tests/deps
.PHONY: deps-metrics

# Tests that take a part of their input in make check, with all of it.
LONG_UNITS   := $(patsubst tests/unit/%.c,%,$(shell grep -l tap_amount tests/unit/*.c))
LONG_TESTS   := $(foreach t,$(LONG_UNITS),$(filter %/$t,$(UNIT_TESTS))) $(shell grep -l '{LONG:' tests/cli/*.t)
check-long: all $(filter $(O)/%,$(LONG_TESTS)) $(TEST_PROGRAMS) $(TEST_TOOLS)
	$(Q)LONG=1 $(run_tests) $(LONG_TESTS)
.PHONY: check-long

# KILLS signals of each kind at random moments; not part of check, as it takes minutes.
KILLS ?= 50
check-kills: all $(TEST_PROGRAMS)
	$(Q)tests/kills $(O) -each $(KILLS) -jobs 4 -short 4 -seed $${SEED:-1}
.PHONY: check-kills

# Programs with thousands of threads and processes, a million mappings, 100 GB of addresses.
check-load: all $(TEST_PROGRAMS)
	$(Q)tests/load $(O)
# A million times a library is loaded and unloaded: many minutes.
check-load-opens: all $(TEST_PROGRAMS)
	$(Q)tests/load $(O) -only opens -size 1000000
.PHONY: check-load check-load-opens

# Each allocation and call fails once, in programs of their own; every FAULTS_STEP-th of them, or FAULTS=all (12 minutes).
FAULTS_STEP ?= 20
FAULTY_CALLS := malloc calloc realloc reallocarray aligned_alloc strdup strndup vasprintf asprintf realpath fopen fdopen open_memstream \
    mmap memfd_create pipe2 eventfd fork pthread_create timer_create mkdir mkdtemp write pwrite ftruncate posix_fallocate fsync fflush \
    fclose rename link linkat
ifneq ($(FAULTY),)
$(PROGRAMS:%=$(O)/bin/%): $(O)/obj/tests/faults/fail.o
$(PROGRAMS:%=$(O)/bin/%): ALL_LDFLAGS += $(FAULTY_CALLS:%=-Wl$(comma)--wrap=%)
endif
check-faults: all $(TEST_PROGRAMS)
	$(Q)$(MAKE) --no-print-directory O=$(O)-faults FAULTY=1 SAN=address,undefined all
	$(Q)tests/faults/all $(O) $(O)-faults -step $(if $(filter all,$(FAULTS)),1,$(FAULTS_STEP))
.PHONY: check-faults

# Damaged programs, read by prof with sanitizers, for DAMAGED seconds; SEED=n for others.
DAMAGED ?= 120
check-damaged: all $(TEST_PROGRAMS)
	$(Q)$(MAKE) --no-print-directory O=$(O)-san SAN=address,undefined all
	$(Q)tests/damaged $(O) $(O)-san -seconds $(DAMAGED) -seed $${SEED:-1}
.PHONY: check-damaged

# HOSTILE blocks of code that is written to escape from prof block, and HAPHAZARD random ones; SEED=n for other.
HOSTILE   ?= 3000
HAPHAZARD ?= 20000
check-escapes: all
	$(Q)tests/escapes $(O) -hostile $(HOSTILE) -random $(HAPHAZARD) -seed $${SEED:-1}
.PHONY: check-escapes

# What has threads, under the thread sanitizer: its reports count, and not whether tests pass. TSAN=all: all tests of commands; MORE=1:
# those that did not come to their end with these programs (tests/races).
RACY_UNITS   := $(patsubst tests/unit/%.c,%,$(sort $(shell grep -lE 'pthread|parallel|prof_fake|tui_fake|monitor' tests/unit/test_*.c)))
RACY_TESTS   := $(patsubst %,tests/cli/%.t,ranks prof-merge-mpi perfdata prof-why prof-calc prof-branches tui ssrun-basic ssrun-branches \
    ssrun-processes ssrun-values values-module ssrun-explain ssrun-monitor ssrun-monitor-http ssrun-monitor-branches)
ifeq ($(TSAN),all)
RACY_TESTS   := $(CLI_TESTS)
endif
check-tsan:
	$(Q)$(MAKE) --no-print-directory O=$(O)-tsan SAN=thread CFLAGS='-O1 -g' all $(TEST_PROGRAMS:$(O)/%=$(O)-tsan/%) \
	    $(TEST_TOOLS:$(O)/%=$(O)-tsan/%) $(RACY_UNITS:%=$(O)-tsan/tests/unit/%) \
	    $(if $(filter all,$(TSAN)),$(FUZZERS:%=$(O)-tsan/tests/replay/%))
	$(Q)CC='$(CC)' tests/races $(O)-tsan $(RACY_UNITS:%=$(O)-tsan/tests/unit/%) $(RACY_TESTS)
.PHONY: check-tsan

# Unit tests and the seeds of fuzz targets under memcheck; T=pattern, as above.
MEMORY_TESTS = $(filter-out $(V3_TESTS),$(UNIT_TESTS)) $(FUZZERS:%=$(O)/tests/replay/%)
check-memcheck: MEMORY_CHOSEN = $(foreach t,$(MEMORY_TESTS),$(if $(T),$(if $(findstring $(T),$(t)),$(t)),$(t)))
check-memcheck: all $(UNIT_TESTS) $(TEST_PROGRAMS) $(patsubst tests/fuzz/fuzz_%.c,$(O)/tests/replay/%,$(wildcard tests/fuzz/fuzz_*.c))
	$(Q)CC='$(CC)' tests/memcheck $(O) $(MEMORY_CHOSEN)
.PHONY: check-memcheck

# ---- fuzzing: needs clang; the same entry points replay their seeds under make check (fuzz-seeds.t) --
FUZZERS      := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SECONDS ?= 20
fuzz:
	$(Q)$(MAKE) --no-print-directory O=$(O)-fuzz CC=clang CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' SAN=address,undefined fuzzers
	$(Q)tests/fuzz/all $(O)-fuzz $(O)/fuzz $(FUZZ_SECONDS) $(FUZZERS)
# Longer, on all processors, with small corpora and the coverage of parsers at the end.
soak: FUZZ_SECONDS := $(if $(filter file,$(origin FUZZ_SECONDS)),600,$(FUZZ_SECONDS))
soak:
	$(Q)$(MAKE) --no-print-directory O=$(O)-fuzz CC=clang CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' SAN=address,undefined fuzzers
	$(Q)JOBS=$${JOBS:-$$(nproc)} MINIMISE=1 tests/fuzz/all $(O)-fuzz $(O)/fuzz $(FUZZ_SECONDS) $(FUZZERS); found=$$?; \
	    $(MAKE) --no-print-directory O=$(O)-cover CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage $(FUZZERS:%=$(O)-cover/tests/replay/%) && \
    tests/fuzz/coverage $(O)-cover $(O)-fuzz tests/fuzz/seeds $(FUZZERS); exit $$found
.PHONY: soak
fuzzers: $(FUZZERS:%=$(O)/fuzz/%)
$(O)/fuzz/%: $(O)/obj/tests/fuzz/fuzz_%.o $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(LINK_LIBS)
# Without libFuzzer: a main that feeds each file named on the command line once.
$(O)/tests/replay/%: $(O)/obj/tests/fuzz/fuzz_%.o $(O)/obj/tests/fuzz/replay.o $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(LINK_LIBS)
REPLAYS      := $(FUZZERS:%=$(O)/tests/replay/%)
check-built check-cli: $(REPLAYS)
.PHONY: fuzzers

# 10,000 random keys on prof -tui, under sanitizers; SEED=n for others.
fuzz-tui:
	$(Q)$(MAKE) --no-print-directory O=$(O)-san SAN=address,undefined $(O)-san/tests/unit/test_tui_fuzz
	$(Q)ACTIONS=$${ACTIONS:-10000} BUILD=$(abspath $(O)) $(O)-san/tests/unit/test_tui_fuzz
.PHONY: fuzz-tui

bench: all $(TEST_PROGRAMS)
	$(Q)tests/bench/startup $(O)
	$(Q)tests/bench/model $(O)
	$(Q)tests/bench/block -count 300 $(O)
	$(Q)tests/bench/schedule $(O)
	$(Q)tests/bench/merge $(O)
	$(Q)tests/bench/perfdata $(O)
	$(Q)tests/bench/ssrun $(O)
	$(Q)tests/bench/branches $(O)
	$(Q)tests/bench/waits $(O)
	$(Q)tests/bench/first $(O)
	$(Q)NODES=$${NODES:-4000000} tests/bench/tui $(O)
# The Monitor against its bars: five minutes with ticks, five with branches, and 16 days.
bench-monitor: all
	$(Q)tests/bench/monitor $(O)
.PHONY: bench-monitor

accuracy: all $(UNIT_TESTS) $(TEST_PROGRAMS) $(TEST_TOOLS)
	$(Q)MAKE='$(MAKE)' tests/accuracy/generate $(O)
	$(Q)tests/accuracy/readme $(O)

# The pictures of README.md and docs/tutorial.md.
pictures: all
	$(Q)tests/accuracy/pictures $(O)
.PHONY: pictures

include tests/pmu-vm/module.mk
