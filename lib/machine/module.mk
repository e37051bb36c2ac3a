# SPDX-License-Identifier: GPL-2.0-or-later
lib.machine := $(notdir $(sort $(wildcard lib/machine/*.c)))
DATA += $(foreach f,$(sort $(wildcard lib/machine/data/*.machine)),$f:machines/$(notdir $f))
