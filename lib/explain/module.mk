# SPDX-License-Identifier: GPL-2.0-or-later
lib.explain := $(notdir $(sort $(wildcard lib/explain/*.c)))
