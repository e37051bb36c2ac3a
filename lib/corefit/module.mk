# SPDX-License-Identifier: GPL-2.0-or-later
lib.corefit := $(notdir $(sort $(wildcard lib/corefit/*.c)))
