lib.report := $(notdir $(sort $(wildcard lib/report/*.c)))
