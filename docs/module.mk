# SPDX-License-Identifier: GPL-2.0-or-later
include docs/debian/module.mk
# A unit of systemd that knows where the programs are.
UNIT := $(O)/perfex-monitor.service
$(UNIT): docs/perfex-monitor.service.in $(O)/prefix
	$(Q)sed 's|@bin@|$(prefix)/bin|' $< > $@
all: $(UNIT)
INSTALL += $(UNIT):lib/systemd/system/perfex-monitor.service:644
