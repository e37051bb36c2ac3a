# SPDX-License-Identifier: GPL-2.0-or-later
lib.render := $(notdir $(sort $(wildcard lib/render/*.c)))
