# SPDX-License-Identifier: GPL-2.0-or-later
# The bench, and the worker: a program of its own without C library, whose bytes are part of the library.
lib.blockbench     := bench.c block_accept.c block_asm.c block_classes.c block_hex.c block_items.c block_list.c block_states.c crew.c embed.c
blockworker        := $(O)/obj/blockworker/blockworker
blockworker_objs   := $(patsubst %,$(O)/obj/blockworker/%.o,worker_entry worker_system worker_trap worker_pages worker_code worker_measure worker_pmu block_states)
blockworker_cflags := -std=gnu11 $(WARNINGS) -O2 -m64 -march=x86-64 -ffreestanding -fno-stack-protector -fno-pie -fcf-protection=none \
                      -fno-asynchronous-unwind-tables -fno-builtin -mcmodel=large -D_GNU_SOURCE -ffile-prefix-map=$(CURDIR)/= -Ilib
ifneq ($(filter x86_64%,$(ARCH)),)
$(O)/obj/lib/blockbench/embed.o: $(blockworker)
$(O)/obj/lib/blockbench/embed.o: CPPFLAGS += -DWORKER_FILE='"$(blockworker)"'
endif

$(O)/obj/blockworker/%.o: lib/blockbench/%.c $(O)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(blockworker_cflags) -MMD -MP -c -o $@ $<
$(O)/obj/blockworker/%.o: lib/blockbench/%.S $(O)/flags
	@mkdir -p $(@D)
	$(say) AS $<
	$(Q)$(CC) $(blockworker_cflags) -c -o $@ $<
$(blockworker): $(blockworker_objs)
	$(say) LD $@
	$(Q)$(CC) -static -nostdlib $(if $(findstring clang,$(CC)),,-no-pie) -Wl,--build-id=none,-z,noexecstack,-z,norelro,-Ttext-segment=0x5e5e00000000 -o $@ $^
