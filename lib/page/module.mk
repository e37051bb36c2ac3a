# SPDX-License-Identifier: GPL-2.0-or-later
lib.page := $(notdir $(sort $(wildcard lib/page/*.c)))
DATA += lib/page/data/page.html:page.html
