# SPDX-License-Identifier: GPL-2.0-or-later
# libperfex: its own objects with those of the toolkit that they need, everything else hidden: in the shared
# library by the version script, in the archive by linking it into one object and making its other symbols local.
LIBPERFEX_ABI  := 1
libperfex_objs := $(patsubst %.c,$(O)/obj/%.o,$(sort $(wildcard lib/perfex/*.c)))
libperfex_map  := lib/perfex/libperfex.map
LIBPERFEX      := $(O)/lib/libperfex.so $(O)/lib/libperfex.so.$(LIBPERFEX_ABI) $(O)/lib/libperfex.a $(O)/lib/perfex.pc
OBJCOPY        ?= $(CROSS_COMPILE)objcopy

$(libperfex_objs): private ALL_CFLAGS += -fvisibility=hidden

$(O)/lib/libperfex.so.$(LIBPERFEX_ABI): $(libperfex_objs) $(LIBTOOLKIT) $(libperfex_map)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -pthread -Wl,-soname,$(@F) -Wl,--version-script=$(libperfex_map) \
	    $(if $(SAN),,-Wl,-z,defs) -o $@ $(libperfex_objs) $(LIBTOOLKIT) $(LINK_LIBS)

$(O)/lib/libperfex.so: $(O)/lib/libperfex.so.$(LIBPERFEX_ABI)
	$(Q)ln -sf $(<F) $@

$(O)/lib/libperfex.a: $(libperfex_objs) $(LIBTOOLKIT) $(libperfex_map)
	$(say) AR $@
	$(Q)$(CC) $(san_flags) $(sysroot_flags) -r -nostdlib -o $(O)/lib/libperfex.o $(libperfex_objs) $(LIBTOOLKIT)
	$(Q)sed -n 's/^\t\([a-z0-9_]*\);$$/\1/p' $(libperfex_map) > $(O)/lib/libperfex.symbols
	$(Q)$(OBJCOPY) --keep-global-symbols=$(O)/lib/libperfex.symbols $(O)/lib/libperfex.o
	$(Q)rm -f $@ && $(AR) rcsD $@ $(O)/lib/libperfex.o

$(O)/lib/perfex.pc: lib/perfex/perfex.pc.in $(O)/flags $(O)/prefix
	@mkdir -p $(@D)
	$(Q)sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(libdir)|' -e 's|@version@|$(VERSION)|' $< > $@

INSTALL += include/perfex.h:include/perfex.h:644 \
	$(O)/lib/libperfex.so.$(LIBPERFEX_ABI):$(libdir)/libperfex.so.$(LIBPERFEX_ABI):755 \
	$(O)/lib/libperfex.a:$(libdir)/libperfex.a:644 $(O)/lib/perfex.pc:$(libdir)/pkgconfig/perfex.pc:644
LINKS += libperfex.so.$(LIBPERFEX_ABI):$(libdir)/libperfex.so

# Its unit test goes by the inside: the same objects, linked directly.
$(O)/tests/unit/test_libperfex: $(O)/obj/tests/unit/test_libperfex.o $(libperfex_objs) $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -pthread -o $@ $^ $(LINK_LIBS)
