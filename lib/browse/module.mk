# SPDX-License-Identifier: GPL-2.0-or-later
lib.browse := $(notdir $(sort $(wildcard lib/browse/*.c)))
