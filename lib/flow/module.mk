# SPDX-License-Identifier: GPL-2.0-or-later
lib.flow := $(notdir $(sort $(wildcard lib/flow/*.c)))
