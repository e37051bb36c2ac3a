# SPDX-License-Identifier: GPL-2.0-or-later
lib.load := $(notdir $(sort $(wildcard lib/load/*.c)))
