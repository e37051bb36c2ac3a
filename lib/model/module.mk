# SPDX-License-Identifier: GPL-2.0-or-later
lib.model := $(notdir $(sort $(wildcard lib/model/*.c)))
