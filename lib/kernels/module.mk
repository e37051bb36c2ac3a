# SPDX-License-Identifier: GPL-2.0-or-later
lib.kernels := $(notdir $(sort $(wildcard lib/kernels/*.c)))
