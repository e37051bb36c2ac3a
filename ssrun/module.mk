# SPDX-License-Identifier: GPL-2.0-or-later
bin.ssrun := main.c options.c run.c second.c list.c
libs.ssrun := $(IMAGE_LIBS)
PROGRAMS += ssrun
