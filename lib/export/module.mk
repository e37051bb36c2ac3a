# SPDX-License-Identifier: GPL-2.0-or-later
lib.export := $(notdir $(sort $(wildcard lib/export/*.c)))
