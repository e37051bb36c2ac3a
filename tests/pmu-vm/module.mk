# SPDX-License-Identifier: GPL-2.0-or-later
# make check-pmu: perfex, cross-built, in a guest with a real kernel and an emulated PMU.  Where the packages for that
# cannot be had, it says so and counts one skip.
PMU_VM_O     := $(O)/arm64
PMU_VM_UNIT  := test_launch test_os test_estimate

check-pmu:
	$(Q)if why=$$(tests/pmu-vm/deps 2>&1 && tests/pmu-vm/vm --fetch 2>&1); then \
	    $(MAKE) --no-print-directory O=$(PMU_VM_O) CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar SAN= CFLAGS='-O2 -g' \
	        SYSROOT="$$(tests/pmu-vm/vm --sysroot)" pmu-vm-guest && O=$(O) T='$(T)' V='$(V)' TOP=$(CURDIR) tests/run tests/pmu-vm/pmu.t tests/pmu-vm/ssrun.t; \
	else \
	    echo "SKIP: what the emulated machine needs cannot be had: $$(printf '%s\n' "$$why" | tail -n 1)"; \
	    [ -z "$$RESULTS" ] || echo 0 0 1 0 >> "$$RESULTS/counts"; \
	    echo "0 passed, 0 failed, 1 skipped"; \
	fi

# What goes into the guest; built with O=$(PMU_VM_O) and a cross compiler.
$(O)/pmu-vm/encodings: $(O)/obj/tests/pmu-vm/encodings.o $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LINK_LIBS)
$(O)/pmu-vm/work: tests/pmu-vm/work.c $(O)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall $(sysroot_flags) -static -pthread -o $@ $< -lm
pmu-vm-guest: $(O)/bin/perfex $(O)/bin/ssrun $(O)/pmu-vm/encodings $(O)/pmu-vm/work $(PMU_VM_UNIT:%=$(O)/tests/unit/%)
	$(Q)$(MAKE) --no-print-directory $(DATA_FILES) > /dev/null
	@mkdir -p $(O)/pmu-vm/unit
	$(Q)cp $(PMU_VM_UNIT:%=$(O)/tests/unit/%) $(O)/pmu-vm/unit/
.PHONY: pmu-vm-guest
