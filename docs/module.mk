# SPDX-License-Identifier: GPL-2.0-or-later
include docs/debian/module.mk
