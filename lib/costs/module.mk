# SPDX-License-Identifier: GPL-2.0-or-later
lib.costs := $(notdir $(sort $(wildcard lib/costs/*.c)))
DATA += $(foreach f,$(sort $(wildcard lib/costs/data/*.costs)),$f:costs/$(notdir $f))
