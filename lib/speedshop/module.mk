# SPDX-License-Identifier: GPL-2.0-or-later
# libspeedshop: one small object without anything of the toolkit, so that a program pays nothing for it.
LIBSPEEDSHOP_ABI  := 1
libspeedshop_objs := $(patsubst %.c,$(O)/obj/%.o,$(sort $(wildcard lib/speedshop/*.c)))
libspeedshop_map  := lib/speedshop/libspeedshop.map
LIBSPEEDSHOP      := $(O)/lib/libspeedshop.so $(O)/lib/libspeedshop.so.$(LIBSPEEDSHOP_ABI) $(O)/lib/libspeedshop.a $(O)/lib/speedshop.pc

$(libspeedshop_objs): private ALL_CFLAGS += -fvisibility=hidden

$(O)/lib/libspeedshop.so.$(LIBSPEEDSHOP_ABI): $(libspeedshop_objs) $(libspeedshop_map)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -pthread -Wl,-soname,$(@F) -Wl,--version-script=$(libspeedshop_map) \
	    $(if $(SAN),,-Wl,-z,defs) -o $@ $(libspeedshop_objs)

$(O)/lib/libspeedshop.so: $(O)/lib/libspeedshop.so.$(LIBSPEEDSHOP_ABI)
	$(Q)ln -sf $(<F) $@

$(O)/lib/libspeedshop.a: $(libspeedshop_objs)
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcsD $@ $(libspeedshop_objs)

$(O)/lib/speedshop.pc: lib/speedshop/speedshop.pc.in $(O)/flags $(O)/prefix
	@mkdir -p $(@D)
	$(Q)sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(libdir)|' -e 's|@version@|$(VERSION)|' $< > $@

INSTALL += include/speedshop.h:include/speedshop.h:644 include/speedshop/values.h:include/speedshop/values.h:644 \
	include/SpeedShop/api.h:include/SpeedShop/api.h:644 \
	$(O)/lib/libspeedshop.so.$(LIBSPEEDSHOP_ABI):$(libdir)/libspeedshop.so.$(LIBSPEEDSHOP_ABI):755 \
	$(O)/lib/libspeedshop.a:$(libdir)/libspeedshop.a:644 $(O)/lib/speedshop.pc:$(libdir)/pkgconfig/speedshop.pc:644
LINKS += libspeedshop.so.$(LIBSPEEDSHOP_ABI):$(libdir)/libspeedshop.so

# Its unit test goes by the inside: the same object, linked directly.
$(O)/tests/unit/test_speedshop: $(O)/obj/tests/unit/test_speedshop.o $(libspeedshop_objs) $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -pthread -o $@ $^ $(IMAGE_LIBS) $(LINK_LIBS)
