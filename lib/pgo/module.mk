# SPDX-License-Identifier: GPL-2.0-or-later
lib.pgo := $(notdir $(sort $(wildcard lib/pgo/*.c)))
