lib.machine := $(notdir $(sort $(wildcard lib/machine/*.c)))
DATA += $(foreach f,$(sort $(wildcard lib/machine/data/*.machine)),$f:machines/$(notdir $f))
