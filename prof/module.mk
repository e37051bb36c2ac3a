# SPDX-License-Identifier: GPL-2.0-or-later
bin.prof := main.c calibrate.c block.c block_hot.c options.c report.c export.c plot.c html.c verify.c verify_how.c optimize.c store.c merge.c dump.c tui.c tui_command.c
libs.prof := $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(TUI_LIBS)
PROGRAMS += prof
