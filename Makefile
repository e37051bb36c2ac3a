# SPDX-License-Identifier: GPL-2.0-or-later
# One non-recursive makefile.  Every directory says in its module.mk what it holds:
#   lib/NAME/module.mk     lib.NAME   := sources of a library module (all go into $(O)/lib/libtoolkit.a)
#   PROGRAM/module.mk      bin.PROGRAM := sources of a command, libs.PROGRAM := $(IMAGE_LIBS) where it needs them
#   tests, examples, ...   what they build and the targets that they add
# `make help` lists the targets and the variables.

O             ?= build
PREFIX        ?= /usr/local
prefix        ?= $(PREFIX)
libdir        ?= lib
CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC            := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR            := $(CROSS_COMPILE)ar
endif
CFLAGS        ?= -O2 -g
SAN           ?=
V             ?= 0

VERSION       := 1.0
WARNINGS      := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ARCH          := $(shell $(CC) -dumpmachine)
san_flags     := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
sysroot_flags := $(if $(SYSROOT),--sysroot=$(SYSROOT))
ALL_CPPFLAGS   = -D_GNU_SOURCE -DPERFEX_VERSION='"$(VERSION)"' \
                 -Ilib -Iinclude $(CPPFLAGS)
ALL_CFLAGS     = -std=gnu11 $(WARNINGS) -fPIC -ffile-prefix-map=$(CURDIR)/= $(san_flags) $(sysroot_flags) $(CFLAGS)
ALL_LDFLAGS    = $(san_flags) $(sysroot_flags) $(LDFLAGS)

ifeq ($(V),1)
Q   :=
say := @:
else
Q   := @
say := $(if $(findstring s,$(firstword -$(MAKEFLAGS))),@:,@printf '  %-7s %s\n')
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all demo check check-unit check-cli check-pmu bench lint fuzz deps install uninstall clean help accuracy
all:

# Variables that module.mk files add to.
PROGRAMS     :=   # commands installed into bin
DATA         :=   # SRC:DST pairs, installed below share/perfex and copied to $(O)/share/perfex
INSTALL      :=   # FILE:DST:MODE triples, DST relative to $(prefix)
LINKS        :=   # TARGET:LINK pairs, LINK relative to $(prefix)
MODULES      := base rows kernels events model machine process sources costs experiment image collect perfdata isa branches values schedule flow analysis blockbench corefit profile explain report picture render export page pgo tui load optimize store monitor browse
LINK_LIBS    := -lpfm -lm
# What lib/experiment, lib/image and lib/isa need besides: libs.PROGRAM names it for the commands that use them.
IMAGE_LIBS   := -ldw -lelf -liberty -lZydis -lZycore -lz -ldeflate -llzma -lpthread
# And lib/perfdata, lib/base/json_read.c, lib/tui.
PERFDATA_LIBS := -lzstd
JSON_LIBS    := -ljson-c
TUI_LIBS     := -lncursesw -ltinfo
# lib/monitor/monitor_http.c loads this when it is wanted, and can do without.
HTTP_LIBRARY := $(if $(SYSROOT),,$(shell readelf -d "$$($(CC) -print-file-name=libmicrohttpd.so)" 2>/dev/null | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'))

include $(patsubst %,lib/%/module.mk,$(MODULES))
LIB_SRCS     := $(foreach m,$(MODULES),$(addprefix lib/$m/,$(lib.$m)))
LIB_OBJS     := $(LIB_SRCS:%.c=$(O)/obj/%.o)
LIBTOOLKIT   := $(O)/lib/libtoolkit.a

include lib/perfex/module.mk
include lib/speedshop/module.mk
include lib/valgrind/module.mk
include perfex/module.mk
include prof/module.mk
include ssrun/module.mk
include examples/module.mk
include tests/module.mk
include docs/module.mk

# ---- rules ---------------------------------------------------------------------------------------

# Changes whenever a flag does, so that every object is rebuilt then and only then.
flags_now    := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(flags_now))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(flags_now))' > $@
.PHONY: FORCE
FORCE:

$(O)/obj/lib/monitor/monitor_http.o: CPPFLAGS += $(if $(HTTP_LIBRARY),-DHTTP_LIBRARY='"$(HTTP_LIBRARY)"')

# Likewise, of where it will be installed: few files know that.
prefix_now   := $(prefix) $(libdir)
$(O)/prefix: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(prefix_now)' | cmp -s - $@ || printf '%s\n' '$(prefix_now)' > $@
$(O)/obj/lib/base/file.o: $(O)/prefix
$(O)/obj/lib/base/file.o: CPPFLAGS += -DPERFEX_PREFIX='"$(prefix)"'

$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIBTOOLKIT): $(LIB_OBJS)
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcsD $@ $(LIB_OBJS)

define program_rule
$(O)/bin/$(1): $$(patsubst %.c,$(O)/obj/$(1)/%.o,$$(bin.$(1))) $(LIBTOOLKIT)
	@mkdir -p $$(@D)
	$$(say) LD $$@
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $$(libs.$(1)) $$(LINK_LIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$p)))

# Data files keep the installed shape below $(O)/share/perfex, so that programs find them the same way
# in the build tree and when installed: relative to the executable, ../share/perfex.
define data_rule
$(O)/share/perfex/$(2): $(1)
	@mkdir -p $$(@D)
	$$(Q)cp $$< $$@
DATA_FILES += $(O)/share/perfex/$(2)
endef
DATA_FILES :=
$(foreach d,$(DATA),$(eval $(call data_rule,$(word 1,$(subst :, ,$d)),$(word 2,$(subst :, ,$d)))))

# bash looks for a script by the name of the command; zsh reads which commands a script is for.
COMPLETIONS  := $(PROGRAMS:%=docs/completions/perfex.bash:share/bash-completion/completions/%) docs/completions/_perfex:share/zsh/site-functions/_perfex

all: $(PROGRAMS:%=$(O)/bin/%) $(LIBPERFEX) $(LIBSPEEDSHOP) $(VALGRIND_TOOL) $(DATA_FILES) $(EXAMPLES)

# ---- what people type ----------------------------------------------------------------------------

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)echo '$$ perfex -native -a -y build/examples/staffing'
	$(Q)$(O)/bin/perfex -native -a -y $(O)/examples/staffing
	$(Q)echo '$$ ssrun -dsc_hwc -o build/demo.exp build/examples/staffing'
	$(Q)rm -f $(O)/demo.exp; $(O)/bin/ssrun -dsc_hwc -o $(O)/demo.exp $(O)/examples/staffing
	$(Q)echo '$$ prof -heavy build/demo.exp'
	$(Q)$(O)/bin/prof -heavy $(O)/demo.exp

INSTALL      += $(foreach p,$(PROGRAMS),$(O)/bin/$p:bin/$p:755) \
                $(foreach d,$(DATA),$(word 1,$(subst :, ,$d)):share/perfex/$(word 2,$(subst :, ,$d)):644) \
                $(COMPLETIONS:%=%:644) \
                $(foreach m,$(sort $(wildcard docs/man/*.[1-9])),$m:share/man/man$(subst .,,$(suffix $m))/$(notdir $m):644) \
                $(foreach d,LICENSE LICENSE.LGPL README.md NEWS.md CONTRIBUTING.md $(sort $(wildcard docs/*.md docs/*.png docs/*.svg docs/*/*.png docs/*/*.svg)) \
                    $(sort $(wildcard examples/*.c examples/*.f90 examples/*.sh)) examples/Makefile,$d:share/doc/perfex/$d:644)

# Directories of ours alone, which go with what is in them.
OWN_DIRS      = $(sort share/perfex $(foreach i,$(INSTALL),$(foreach d,$(patsubst %/,%,$(dir $(word 2,$(subst :, ,$i)))),$(if $(findstring /perfex,/$d)$(findstring /SpeedShop,/$d)$(findstring /speedshop,/$d),$d))))

install: all
	$(Q)set -e; for i in $(INSTALL); do \
	    src=$${i%%:*}; rest=$${i#*:}; dst="$(DESTDIR)$(prefix)/$${rest%:*}"; mode=$${rest##*:}; \
	    install -D -m $$mode "$$src" "$$dst"; done; \
	for l in $(LINKS); do ln -sf "$${l%%:*}" "$(DESTDIR)$(prefix)/$${l#*:}"; done
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || :
	@echo 'installed below $(DESTDIR)$(prefix)'

uninstall:
	$(Q)for i in $(INSTALL); do rest=$${i#*:}; rm -f "$(DESTDIR)$(prefix)/$${rest%:*}"; done; \
	for l in $(LINKS); do rm -f "$(DESTDIR)$(prefix)/$${l#*:}"; done; \
	for d in $$(printf '%s\n' $(OWN_DIRS) | sort -r); do rmdir "$(DESTDIR)$(prefix)/$$d" 2>/dev/null || :; done
	@echo 'removed from below $(DESTDIR)$(prefix)'

# The sources of the last commit. Equal commits give equal bytes: times and modes are git's, and gzip adds none.
dist:
	$(Q)command -v git >/dev/null && git -c safe.directory='*' rev-parse -q --verify HEAD >/dev/null 2>&1 || \
	    { echo 'make dist packs a commit: run it in a clone of the repository, with git' >&2; exit 1; }
	$(Q)mkdir -p $(O)/dist
	$(Q)umask 022; git -c safe.directory='*' -c tar.umask=022 archive --format=tar --prefix=perfex-$(VERSION)/ HEAD > $(O)/dist/new.tar
	$(Q)gzip -9nf $(O)/dist/new.tar && mv $(O)/dist/new.tar.gz $(O)/dist/perfex-$(VERSION).tar.gz
	$(Q)cd $(O)/dist && sha256sum perfex-$(VERSION).tar.gz | tee perfex-$(VERSION).tar.gz.sha256
	@[ -z "$$(git -c safe.directory='*' status --porcelain -uno)" ] || echo 'changes that are not committed are not in it' >&2
.PHONY: dist

clean:
	rm -rf $(O)

define help_text
make demo        build, and take a real program apart with perfex -native -a -y
make check       build and run all tests; T=part-of-a-path runs some, UPDATE=1 rewrites golden files
make check-long  tests that take a part of their input in make check, with all of it
make check-static  gcc -fanalyzer, clang-tidy, cppcheck and shellcheck over all sources
make check-blocks values: blocks of real code interpreted and executed; BLOCKS=file of hexadecimal lines
make check-kills tools and programs, KILLS=50 times by each signal at random moments
make check-faults every 20th allocation and call fails once, under sanitizers; FAULTS=all: each
make check-damaged damaged programs, read by prof under sanitizers for DAMAGED=120 seconds
make check-escapes prof block on HOSTILE=3000 blocks written to escape from it, HAPHAZARD=20000 random ones
make check-tsan  what has threads, under the thread sanitizer
make check-load  thousands of threads and processes, a million mappings, under ssrun, perfex and the monitor
make check-pmu   the counting paths on a real kernel with an emulated PMU (qemu)
make all         build everything below $$(O)
make bench       speed, side by side with perf and cachegrind; make bench-monitor: what ssrun monitor costs and loses
make accuracy    the model against cachegrind, single steps and time, errors of estimates: writes docs/accuracy.md;
                 SECTIONS='a b' some of it (tests/accuracy/generate), LENGTH=0.3 shorter programs
make pictures    draws docs/pictures from real runs
make lint        layers, headers, manual pages, shellcheck, cppcheck, gcc -fanalyzer ...
make fuzz        the parsers under libFuzzer, FUZZ_SECONDS=20 each; inputs that fail are kept in $$(O)/fuzz
make soak        the same for FUZZ_SECONDS=600 each, on all processors; prints how much of the parsers is reached
make fuzz-tui    10,000 random keys on prof -tui under sanitizers
make deps        install what is missing (Debian, Ubuntu); make deps-pgo: LLVM 19, for the tests of profiles for compilers;
                 make deps-metrics: prometheus and go, for tests of metrics
make install     into $$(DESTDIR)$$(prefix); make uninstall removes it
make dist        the sources of the last commit, in $$(O)/dist
make deb         a Debian package, in $$(O)/deb; make check-deb installs, runs and removes it in a scratch root
make clean

O=build  PREFIX=/usr/local  DESTDIR=  libdir=lib  CC=gcc  CFLAGS='-O2 -g'  LDFLAGS=  CROSS_COMPILE=  SYSROOT=
SAN=address,undefined  (sanitizers)    V=1  (show commands, full test output)
endef
help:
	$(info $(help_text))
	@:

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
