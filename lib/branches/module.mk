# SPDX-License-Identifier: GPL-2.0-or-later
# Elsewhere than on x86-64 it has nothing but its refusal.
lib.branches := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),$(filter-out none.c,$(notdir $(sort $(wildcard lib/branches/*.c)))),none.c)
