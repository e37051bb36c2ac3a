# SPDX-License-Identifier: GPL-2.0-or-later
# One non-recursive makefile.  Every directory says in its module.mk what it holds:
#   lib/NAME/module.mk     lib.NAME   := sources of a library module (all go into $(O)/lib/libtoolkit.a)
#   PROGRAM/module.mk      bin.PROGRAM := sources of a command
#   tests, examples, ...   what they build and the targets that they add
# `make help` lists the targets and the variables.

O             ?= build
PREFIX        ?= /usr/local
prefix        ?= $(PREFIX)
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

VERSION       := 0.1
WARNINGS      := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ARCH          := $(shell $(CC) -dumpmachine)
san_flags     := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
sysroot_flags := $(if $(SYSROOT),--sysroot=$(SYSROOT))
ALL_CPPFLAGS   = -D_GNU_SOURCE -DPERFEX_VERSION='"$(VERSION)"' -DPERFEX_PREFIX='"$(prefix)"' \
                 -Ilib -Iinclude $(CPPFLAGS)
ALL_CFLAGS     = -std=gnu11 $(WARNINGS) -fPIC -ffile-prefix-map=$(CURDIR)/= $(san_flags) $(sysroot_flags) $(CFLAGS)
ALL_LDFLAGS    = $(san_flags) $(sysroot_flags) $(LDFLAGS)

ifeq ($(V),1)
Q   :=
say := @:
else
Q   := @
say := @printf '  %-7s %s\n'
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all demo check check-unit check-cli check-pmu bench lint fuzz deps install uninstall clean help accuracy
all:

# Variables that module.mk files add to.
PROGRAMS     :=   # commands installed into bin
DATA         :=   # SRC:DST pairs, installed below share/perfex and copied to $(O)/share/perfex
MODULES      := base events model machine sources costs report render
LINK_LIBS    := -lpfm -lm

include $(patsubst %,lib/%/module.mk,$(MODULES))
LIB_SRCS     := $(foreach m,$(MODULES),$(addprefix lib/$m/,$(lib.$m)))
LIB_OBJS     := $(LIB_SRCS:%.c=$(O)/obj/%.o)
LIBTOOLKIT   := $(O)/lib/libtoolkit.a

include lib/perfex/module.mk
include lib/valgrind/module.mk
include perfex/module.mk
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
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $$(LINK_LIBS)
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

all: $(PROGRAMS:%=$(O)/bin/%) $(LIBPERFEX) $(VALGRIND_TOOL) $(DATA_FILES) $(EXAMPLES)

clean:
	rm -rf $(O)

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
