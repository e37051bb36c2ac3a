# SPDX-License-Identifier: GPL-2.0-or-later
bin.prof := main.c calibrate.c block.c block_hot.c options.c report.c effects.c export.c plot.c html.c verify.c verify_how.c optimize.c store.c merge.c dump.c tui.c tui_command.c
libs.prof := $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(TUI_LIBS)
PROGRAMS += prof

# What prof -merge becomes under mpirun, where MPICH is installed; MPI=no leaves it out.
MPI_LIBS   := $(if $(SYSROOT)$(CROSS_COMPILE)$(SAN)$(filter no,$(MPI)),,$(shell pkg-config --exists mpich 2>/dev/null && pkg-config --libs mpich))
MPI_HELPER := $(if $(MPI_LIBS),$(O)/libexec/perfex/prof-merge-mpi)
$(O)/libexec/perfex/prof-merge-mpi: $(O)/obj/prof/mpi/mpi_merge.o $(LIBTOOLKIT)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(IMAGE_LIBS) $(PERFDATA_LIBS) $(JSON_LIBS) $(LINK_LIBS) $(MPI_LIBS)
all: $(MPI_HELPER)
INSTALL += $(MPI_HELPER:%=%:libexec/perfex/prof-merge-mpi:755)
$(O)/obj/prof/mpi/%.o: CPPFLAGS += $(patsubst -I%,-isystem %,$(shell pkg-config --cflags mpich 2>/dev/null))
