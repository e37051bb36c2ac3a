lib.model := $(notdir $(sort $(wildcard lib/model/*.c)))
