# SPDX-License-Identifier: GPL-2.0-or-later
# Programs to look at with perfex: built into $(O)/examples with debugging information and without sanitizers,
# because they run under Valgrind too.
case_studies  := staffing adi convolve weather
EXAMPLES      := $(case_studies:%=$(O)/examples/%)

$(case_studies:%=$(O)/examples/%): $(O)/examples/%: examples/%.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARNINGS) -ffile-prefix-map=$(CURDIR)/= $(sysroot_flags) -pthread -o $@ $< -lm
