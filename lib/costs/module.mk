lib.costs := $(notdir $(sort $(wildcard lib/costs/*.c)))
DATA += $(foreach f,$(sort $(wildcard lib/costs/data/*.costs)),$f:costs/$(notdir $f))
