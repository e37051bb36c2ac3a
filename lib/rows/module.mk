# SPDX-License-Identifier: GPL-2.0-or-later
lib.rows := $(notdir $(sort $(wildcard lib/rows/*.c)))
