# SPDX-License-Identifier: GPL-2.0-or-later
lib.optimize := $(notdir $(sort $(wildcard lib/optimize/*.c)))
