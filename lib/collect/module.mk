# SPDX-License-Identifier: GPL-2.0-or-later
lib.collect := $(notdir $(sort $(wildcard lib/collect/*.c)))
