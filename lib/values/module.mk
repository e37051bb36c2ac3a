# SPDX-License-Identifier: GPL-2.0-or-later
# The interpreter is for x86-64; lists and intervals are not of any processor.
values_portable := latencies.c value_levels.c value_sites.c value_interval.c value_module.c value_module_child.c value_watch.c values_none.c
lib.values := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),$(filter-out values_none.c,$(notdir $(sort $(wildcard lib/values/*.c)))),$(values_portable))
