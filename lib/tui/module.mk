# SPDX-License-Identifier: GPL-2.0-or-later
lib.tui := $(notdir $(sort $(wildcard lib/tui/*.c)))
