lib.sources := $(notdir $(sort $(wildcard lib/sources/*.c)))
