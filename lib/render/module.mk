lib.render := $(notdir $(sort $(wildcard lib/render/*.c)))
