/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine descriptions: the processors that can be modelled. Each is a text file (format:
 * perfex-machine(5)); ours are in lib/machine/data, installed to share/perfex/machines. This host's
 * own comes from sysfs and cpuid, with missing values from the description of its family.
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "kernels/probe.h"
#include "model/model.h"

/* Where a machine's clock comes from. */
enum machine_clock_from {
	MACHINE_CLOCK_GIVEN,    /* the description gives it */
	MACHINE_CLOCK_MEASURED, /* on this host */
	MACHINE_CLOCK_STATED,   /* the system, or the processor, states it as the highest */
	MACHINE_CLOCK_ASSUMED,  /* of this host: the processor family's */
	MACHINE_CLOCK_UNKNOWN,  /* measured on this host, but it scatters */
};

struct machine {
	char name[32];         /* "zen4" */
	char description[128]; /* "AMD Zen 4 (Genoa, 7040) ..." */
	char core[32];         /* name of the core description that fits (perfex-core(5)), "none" */
	char costs[32];        /* name of the cost table that fits, "zen4" */
	char family[32];       /* of a host: the description that it starts from, "zen4"; else "" */
	char origin[256];      /* the file it was read from, or how it was found */
	enum machine_clock_from clock_from;
	uint32_t measured, refused; /* constants, a bit each, in the order of machine_constant */
	struct model_config model;
};

/* Parses a description; name is what errors call the text ("FILE:LINE: message").  Fields that the
 * text leaves out keep documented defaults; impossible geometries are errors. */
int machine_parse(
	const char *text, size_t length, const char *name, struct machine *m, struct error *e);

/*
 * The machine named `name`: NULL or "host": this host's; a name of ours ("zen4");
 * "cachegrind:I1=size,assoc, line:D1=size,assoc,line:LL=size,assoc,line" (cachegrind's semantics
 * and geometry); else a path. All except cachegrind's may be followed by ":KEY=VALUE,..." to change
 * single fields ("zen4:L2=512K"). ERR_NOT_FOUND lists the nearest names.
 */
int machine_find(const char *name, struct machine *m, struct error *e);

/* What is measured by the first runs after a boot; others find it. */
#define MACHINE_MEASURED 3
struct machine_measurement {
	const char *name;                 /* of its files */
	bool (*usable)(const char *text); /* can it be? */
};

/* One of MACHINE_MEASURED, from 0 on, to be freed by the caller. NULL: it is not measured yet, or
 * may not be kept. */
char *machine_measured(const struct machine_measurement *m, unsigned number);
/* Keeps one until the next boot, if it is still wanted. */
void machine_keep_measured(const struct machine_measurement *m, const char *text);

/* What stops of threads cost on this host, ns: elapsed time; CPU time of the thread that stops, and
 * of one that is interrupted. */
struct machine_stop_costs {
	double elapsed, stopped, interrupted;
};

/* As measured since the boot. false: not often enough yet, or it may not be kept. */
bool machine_stop_costs(struct machine_stop_costs *c);
/* Keeps what was measured until the next boot, if it is still wanted. */
void machine_keep_stop_costs(const struct machine_stop_costs *c);

/* What messages call it: its name, or "this host". */
const char *machine_called(const struct machine *m);

/* Names of -clock, by enum model_clock, NULL-terminated. */
extern const char *const machine_clocks[];

/* The same, with the clock of that name: ERR_CONFLICT if the machine does not support it. NULL: the
 * sampled one where it is supported, else the first-order one. */
int machine_find_clock(const char *name, const char *clock, struct machine *m, struct error *e);

/* This host: geometry from /sys/devices/system/cpu below root ("" for the real one; tests give a
 * copy), the rest from its family's description. */
int machine_host(const char *root, struct machine *m, struct error *e);

/*
 * Constants of this host that are measured before a run on a model of it, three to eight times
 * a boot, minutes apart, of which the least counts: machine_unmeasured is true if machine `name`
 * would have them and there are none yet, machine_measure_due if it is time to measure (again).
 * Then machine_measure_before takes a second or two to measure them, says so unless quiet, keeps
 * them for all users, and finds the machine again; what cannot be measured is the description's.
 */
bool machine_unmeasured(const char *name);
bool machine_measure_due(const char *name);
int machine_measure_before(
	const char *name, const char *clock, bool quiet, struct machine *m, struct error *e);

enum machine_constant_from {
	MACHINE_CONSTANT_DESCRIBED, /* the description's */
	MACHINE_CONSTANT_MEASURED,
	MACHINE_CONSTANT_REFUSED, /* the description's, since the measured one cannot be */
};
struct machine_constant {
	const char *key; /* of the description, "memory" */
	uint32_t value;  /* cycles */
	enum machine_constant_from from;
};
/* Constant number i of those that could be measured; false: there are no more. */
bool machine_constant(const struct machine *m, size_t i, struct machine_constant *out);

/* What there is to fill for kernels that measure. */
struct rig_shape machine_shape(const struct machine *m);

/* This host's clock now, in Hz, timed for some 60 ms; 0: it cannot be timed, it scatters, or
 * PERFEX_HOST forbids it. The clock of machine_find is the same for a whole boot; this one is for
 * what is compared with a time that is measured now. */
uint64_t machine_clock_now(void);

/* "measured", "stated", "assumed" or "unknown"; of a description's clock "". */
const char *machine_clock_word(enum machine_clock_from from);

/* Calls each with the name of every description of ours, sorted. */
int machine_walk(void (*each)(const char *name, void *context), void *context, struct error *e);

#endif
