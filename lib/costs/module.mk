# SPDX-License-Identifier: GPL-2.0-or-later
lib.costs := $(patsubst lib/costs/%,%,$(sort $(wildcard lib/costs/*.c lib/costs/kernels/*.c)))
DATA += $(foreach f,$(sort $(wildcard lib/costs/data/*.costs)),$f:costs/$(notdir $f))
