# SPDX-License-Identifier: GPL-2.0-or-later
# The Valgrind tool.  Built for x86-64 where Valgrind's headers and static libraries are there (Debian: package
# valgrind), with flags of its own: it has no libc, and no sanitizer can live in it.
#   VALGRIND_TOOL      what to build; empty elsewhere
#   VALGRIND_VERSION   of the Valgrind that it is built with
# Everything goes to $(O)/libexec/perfex:
#   perfexmodel-amd64-linux   the tool, Valgrind's core included
#   perfexmodel-v3-amd64-linux  the same for x86-64-v3; the launcher chooses
#   valgrind.bin              starts it (launcher.c)
#   valgrind                  link to the distribution's wrapper script, where it is one (see launcher.c)
#   perfexmodel.built-for     Valgrind's version, its preloaded library, that one's POSIX checksum and size
VALGRIND_TOOL    :=
valgrind_pc      := $(if $(CROSS_COMPILE)$(SYSROOT),,pkg-config)
VALGRIND_VERSION := $(if $(valgrind_pc),$(shell pkg-config --modversion valgrind 2>/dev/null))
ifneq ($(and $(filter x86_64%,$(ARCH)),$(VALGRIND_VERSION)),)
valgrind_include := $(shell pkg-config --variable=includedir valgrind)
valgrind_lib     := $(shell pkg-config --variable=libdir valgrind)/valgrind
valgrind_address := $(or $(shell pkg-config --variable=valt_load_address valgrind),0x58000000)
ifneq ($(and $(wildcard $(valgrind_include)/pub_tool_tooliface.h),$(wildcard $(valgrind_lib)/libcoregrind-amd64-linux.a)),)

valgrind_dir     := $(O)/libexec/perfex
# Where the distribution keeps what a tool needs at run time is compiled into Valgrind's core.
valgrind_libexec := $(patsubst %/default.supp,%,$(firstword $(wildcard \
                      /usr/libexec/valgrind/default.supp /usr/lib/valgrind/default.supp \
                      /usr/lib/x86_64-linux-gnu/valgrind/default.supp /usr/local/libexec/valgrind/default.supp)))
valgrind_preload := $(valgrind_libexec)/vgpreload_core-amd64-linux.so
valgrind_wrapper := $(shell command -v valgrind 2>/dev/null)
valgrind_script  := $(if $(valgrind_wrapper),$(shell head -c 2 '$(valgrind_wrapper)' | grep -ax '\#!' >/dev/null && echo yes))

# No -g: Valgrind's reader of debugging information reads the tool's too, at each start, and chokes on clang's.
# The model and what drives it as one program, where the compiler is one that links so without help.
valgrind_lto     := $(if $(findstring Free Software,$(shell $(CC) --version 2>/dev/null)),-flto=auto -fno-fat-lto-objects)
valgrind_cflags  := -std=gnu11 $(WARNINGS) -O3 $(valgrind_lto) -m64 -fomit-frame-pointer -fno-stack-protector \
                    -fno-strict-aliasing -fno-builtin -fno-pie -fcf-protection=none \
                    -ffile-prefix-map=$(CURDIR)/= \
                    -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 \
                    -DPERFEX_VERSION='"$(VERSION)"' -Ilib -isystem $(valgrind_include)
# Functions of Valgrind's core that ours stand in front of: precise.c, exec.c, turns.c, valgrind_debug.c, log.c, resume.c, modes.c,
# huge.c, ignored.c; and of VEX: fused.c, identity.c, passes.c.
valgrind_wrap    := LibVEX_Translate vgPlain_am_mmap_anon_float_valgrind vgPlain_do_exec vgPlain_sigframe_destroy vgPlain_logging_atfork_child vgPlain_di_notify_mmap vgPlain_acquire_BigLock vgPlain_disp_run_translations vgPlain_search_transtab vgPlain_add_to_transtab \
                    $(patsubst %,vgModuleLocal_%_sched_lock,create destroy acquire release) \
                    vgModuleLocal_get_sched_lock_owner h_generic_calc_MAddF32 h_generic_calc_MAddF64 amd64g_dirtyhelper_CPUID_avx2 \
                    vgModuleLocal_do_syscall_for_client_WRK emit_AMD64Instr vgPlain_sigaction sanityCheckIRSB cprop_BB do_deadcode_BB
valgrind_ldflags := -static -nodefaultlibs -nostartfiles -u _start -Wl,--build-id=none \
                    -Wl,-z,noexecstack $(valgrind_wrap:%=-Wl,--wrap=%) -Wl,-Ttext-segment=$(valgrind_address)
valgrind_sources := \
                      $(addprefix lib/valgrind/,tool.c valgrind_counts.c instrument.c passes.c precise.c faults.c thunk.c valgrind_native.c exec.c turns.c valgrind_debug.c fused.c identity.c pages.c touched.c huge.c ignored.c log.c changing.c resume.c trace.c decode.c scan.c latency.c traits.c x87.c depend.c extent.c images.c blocks.c \
                        tally.c slices.c stacks.c dataspace.c spans.c heap.c valgrind_variables.c profile_write.c profile_targets.c profile_file.c sampled.c modes.c counted.c executed.c asking.c) \
                      $(addprefix lib/model/,$(lib.model)) lib/isa/brief.c
valgrind_objs    := $(patsubst %.c,$(O)/obj/valgrind-tool/%.o,$(valgrind_sources))
valgrind_v3_objs := $(patsubst %.c,$(O)/obj/valgrind-tool-v3/%.o,$(valgrind_sources))
# Its global register variables and link-time optimization exclude each other.
$(O)/obj/valgrind-tool/lib/model/jit_routines.o $(O)/obj/valgrind-tool-v3/lib/model/jit_routines.o: valgrind_cflags += -fno-lto
valgrind_v3      := -march=x86-64-v3 -mtune=generic

VALGRIND_TOOL    := $(valgrind_dir)/perfexmodel-amd64-linux $(valgrind_dir)/perfexmodel-v3-amd64-linux $(valgrind_dir)/valgrind.bin \
                    $(valgrind_dir)/perfexmodel.built-for $(if $(valgrind_script),$(valgrind_dir)/valgrind)

INSTALL          += $(foreach f,perfexmodel-amd64-linux perfexmodel-v3-amd64-linux valgrind.bin,$(valgrind_dir)/$f:libexec/perfex/$f:755) \
                    $(valgrind_dir)/perfexmodel.built-for:libexec/perfex/perfexmodel.built-for:644
LINKS            += $(if $(valgrind_script),$(valgrind_wrapper):libexec/perfex/valgrind)

valgrind_flags   := $(CC) $(valgrind_cflags) $(valgrind_v3) $(valgrind_ldflags) $(VALGRIND_VERSION) $(valgrind_preload) $(valgrind_wrapper)
$(O)/valgrind-flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(valgrind_flags))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(valgrind_flags))' > $@

$(O)/obj/valgrind-tool/%.o: %.c $(O)/valgrind-flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(valgrind_cflags) -MD -MP -c -o $@ $<

$(O)/obj/valgrind-tool-v3/%.o: %.c $(O)/valgrind-flags
	@mkdir -p $(@D)
	$(say) CC $< x86-64-v3
	$(Q)$(CC) $(valgrind_cflags) $(valgrind_v3) -MD -MP -c -o $@ $<

valgrind_link     = $(CC) $(valgrind_cflags) $(valgrind_ldflags) -o $@ $(filter %.o,$^) -L$(valgrind_lib) \
                    -lcoregrind-amd64-linux -lvex-amd64-linux -lgcc -lgcc-sup-amd64-linux
$(valgrind_dir)/perfexmodel-amd64-linux: $(valgrind_objs) $(valgrind_lib)/libcoregrind-amd64-linux.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(valgrind_link)

$(valgrind_dir)/perfexmodel-v3-amd64-linux: $(valgrind_v3_objs) $(valgrind_lib)/libcoregrind-amd64-linux.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(valgrind_link) $(valgrind_v3)

$(valgrind_dir)/valgrind.bin: lib/valgrind/launcher.c lib/valgrind/launcher.h $(O)/valgrind-flags
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -Ilib -static -o $@ $<

$(valgrind_dir)/perfexmodel.built-for: $(valgrind_preload) $(O)/valgrind-flags
	@mkdir -p $(@D)
	$(Q)printf '%s\n' '$(VALGRIND_VERSION)' '$(valgrind_preload)' > $@
	$(Q)cksum < $(valgrind_preload) >> $@

$(valgrind_dir)/valgrind: $(O)/valgrind-flags
	@mkdir -p $(@D)
	$(Q)ln -sfn '$(valgrind_wrapper)' $@
endif
endif
