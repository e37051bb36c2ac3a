# SPDX-License-Identifier: GPL-2.0-or-later
lib.perfdata := $(notdir $(sort $(wildcard lib/perfdata/*.c)))
