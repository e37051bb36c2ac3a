# SPDX-License-Identifier: GPL-2.0-or-later
lib.report := $(notdir $(sort $(wildcard lib/report/*.c)))
