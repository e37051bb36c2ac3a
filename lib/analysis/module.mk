# SPDX-License-Identifier: GPL-2.0-or-later
lib.analysis := $(notdir $(sort $(wildcard lib/analysis/*.c)))
