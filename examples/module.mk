# SPDX-License-Identifier: GPL-2.0-or-later
# Programs to look at with perfex: built into $(O)/examples with debugging information.  The case studies are
# always without sanitizers, because they run under Valgrind; those that use libperfex are built as it is.
case_studies  := staffing adi convolve weather copy ledger replay
users         := classic count
# The Fortran example is built where there is a compiler for it that fits the library.
FORTRAN       := $(if $(SAN)$(CROSS_COMPILE),,$(shell command -v gfortran 2>/dev/null))
EXAMPLES      := $(patsubst %,$(O)/examples/%,$(case_studies) $(users) $(if $(FORTRAN),count-f))
example_flags := -O2 -g -ffile-prefix-map=$(CURDIR)/= $(sysroot_flags)
with_library   = -L$(O)/lib -lperfex -Wl,-rpath,'$$ORIGIN/../lib'

$(case_studies:%=$(O)/examples/%): $(O)/examples/%: examples/%.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 $(WARNINGS) $(example_flags) -pthread -o $@ $< -lm

# A second build, for prof verify.
EXAMPLES      += $(O)/examples/ledger-fixed
$(O)/examples/ledger-fixed: examples/ledger.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 $(WARNINGS) $(example_flags) -DFIXED=1 -o $@ $<

$(users:%=$(O)/examples/%): $(O)/examples/%: examples/%.c include/perfex.h $(O)/lib/libperfex.so $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 $(WARNINGS) $(example_flags) $(san_flags) -Iinclude -o $@ $< $(with_library)

$(O)/examples/count-f: examples/count.f90 $(O)/lib/libperfex.so $(O)/flags
	@mkdir -p $(@D) $(O)/obj/examples
	$(say) FC $<
	$(Q)$(FORTRAN) -Wall $(example_flags) -J$(O)/obj/examples -o $@ $< $(with_library)

# Modules for ssrun -values.
modules       := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),vp-classic vp-address vp-caller vp-latency)
EXAMPLES      += $(modules:%=$(O)/examples/%.so)
$(modules:%=$(O)/examples/%.so): $(O)/examples/%.so: examples/%.c include/speedshop/values.h $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 $(WARNINGS) $(example_flags) -Iinclude -fPIC -shared -o $@ $<
