# SPDX-License-Identifier: GPL-2.0-or-later
lib.sources := $(notdir $(sort $(wildcard lib/sources/*.c)))
$(O)/obj/lib/sources/pending.o: $(wildcard lib/sources/pmu.c lib/sources/model.c lib/costs/calibrate.c)
