lib.base := $(notdir $(sort $(wildcard lib/base/*.c)))
