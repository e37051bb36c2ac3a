# SPDX-License-Identifier: GPL-2.0-or-later
lib.store := $(notdir $(sort $(wildcard lib/store/*.c)))
