# SPDX-License-Identifier: GPL-2.0-or-later
lib.schedule := $(notdir $(sort $(wildcard lib/schedule/*.c)))
DATA += $(foreach f,$(sort $(wildcard lib/schedule/data/*.core)),$f:cores/$(notdir $f))
