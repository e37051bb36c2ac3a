# SPDX-License-Identifier: GPL-2.0-or-later
lib.isa := $(notdir $(sort $(wildcard lib/isa/*.c)))
