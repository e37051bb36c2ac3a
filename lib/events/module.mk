lib.events := $(notdir $(sort $(wildcard lib/events/*.c)))
