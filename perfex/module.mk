# SPDX-License-Identifier: GPL-2.0-or-later
bin.perfex := main.c doctor.c options.c count.c native.c profile.c list.c machine.c explain.c costs.c calibrate.c
PROGRAMS += perfex
