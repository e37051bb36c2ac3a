# SPDX-License-Identifier: GPL-2.0-or-later
lib.sources := $(notdir $(sort $(wildcard lib/sources/*.c)))
