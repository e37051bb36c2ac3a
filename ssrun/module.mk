# SPDX-License-Identifier: GPL-2.0-or-later
bin.ssrun := main.c options.c run.c runs.c second.c versus.c list.c monitor.c
libs.ssrun := $(IMAGE_LIBS)
PROGRAMS += ssrun
