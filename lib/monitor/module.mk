# SPDX-License-Identifier: GPL-2.0-or-later
lib.monitor := $(notdir $(sort $(wildcard lib/monitor/*.c)))
