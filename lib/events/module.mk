# SPDX-License-Identifier: GPL-2.0-or-later
lib.events := $(notdir $(sort $(wildcard lib/events/*.c)))
