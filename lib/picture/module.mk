# SPDX-License-Identifier: GPL-2.0-or-later
lib.picture := $(notdir $(sort $(wildcard lib/picture/*.c)))
