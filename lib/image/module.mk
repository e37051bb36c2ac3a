# SPDX-License-Identifier: GPL-2.0-or-later
lib.image := $(notdir $(sort $(wildcard lib/image/*.c)))
