# SPDX-License-Identifier: GPL-2.0-or-later
lib.process := $(notdir $(sort $(wildcard lib/process/*.c)))
