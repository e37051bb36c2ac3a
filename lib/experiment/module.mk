# SPDX-License-Identifier: GPL-2.0-or-later
lib.experiment := $(notdir $(sort $(wildcard lib/experiment/*.c)))
