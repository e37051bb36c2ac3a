# SPDX-License-Identifier: GPL-2.0-or-later
lib.base := $(notdir $(sort $(wildcard lib/base/*.c)))
