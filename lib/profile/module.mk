# SPDX-License-Identifier: GPL-2.0-or-later
lib.profile := $(notdir $(sort $(wildcard lib/profile/*.c)))
