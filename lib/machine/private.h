/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of lib/machine: the table of the fields of a description, the checks, and the
 * data from the host.
 */
#ifndef MACHINE_PRIVATE_H
#define MACHINE_PRIVATE_H

#include <stdint.h>

#include "machine/machine.h"

/* The format and type of a value. */
enum field_kind {
	FIELD_TEXT,   /* the rest of the line */
	FIELD_WORD,   /* letters, digits, '.', '_', '-', '+' */
	FIELD_CHOICE, /* one of choices[], stored as its index */
	FIELD_HZ,     /* 3.7GHz, 195 MHz */
	FIELD_SIZE,   /* 4K, 1M, 4096 */
	FIELD_COUNT,  /* 8 */
	FIELD_LOG2,   /* a power of two, stored as its exponent */
	FIELD_CYCLES, /* 13-cycle */
	FIELD_CACHE,  /* 32K 8-way 64-byte 4-cycle */
	FIELD_TLB,    /* 64-entry full [7-cycle] */
	FIELD_LARGE,  /* a TLB's entries of 2 MiB pages: 32-entry 4-way, shared or split */
	/* 64-entry 4-ahead 2-line, or off; `low` selects which of the three it has */
	FIELD_PREFETCH,
};

struct field {
	const char *section, *key;
	enum field_kind kind;
	size_t offset;          /* in struct machine */
	size_t latency;         /* FIELD_TLB: offset of its latency; 0: it has none */
	uint64_t low, high;     /* limits; FIELD_TEXT, FIELD_WORD: high is the room */
	const char *choices[8]; /* NULL-terminated */
};

/* FIELD_PREFETCH: bits of low. */
enum { PREFETCH_ENTRIES = 1, PREFETCH_AHEAD = 2, PREFETCH_LINES = 4 };

extern const struct field machine_fields[];
extern const size_t machine_field_count;

#define MACHINE_SUFFIX ".machine"
/* The description of ours that has this name: 0, 1 there is none, -1 with *e set. */
int machine_ours(const char *name, struct machine *m, struct error *e);
/* Fills *e: the description of a machine that this toolkit has is not found. */
void machine_ours_missing(const char *name, struct error *e);

/* The documented defaults. */
void machine_defaults(struct machine *m);

/* NULL if c is possible, else the error, written into text. */
const char *machine_check_cache(
	const struct model_cache_config *c, uint32_t flavour, char *text, size_t size);
const char *machine_check_tlb(const struct model_tlb_config *t, char *text, size_t size);
/* Writes a possible value near an impossible one into hint. */
const char *machine_hint_cache(
	const struct model_cache_config *c, uint32_t flavour, char *hint, size_t size);
const char *machine_hint_tlb(const struct model_tlb_config *t, char *hint, size_t size);

/* A conflict between fields of a machine. */
struct machine_fault {
	const char *key; /* the keyword to blame, NULL: none in particular */
	char text[240];  /* the error */
	char hint[160];  /* what to do, or "" */
};
/* Whether there is a fault; fills *f. */
bool machine_find_fault(const struct machine *m, struct machine_fault *f);

/* After a geometry was replaced: policies and inclusions that it cannot have become lru and
 * neither. */
void machine_fit(struct model_config *c);

/* Data from /proc/cpuinfo below root; all zero if it cannot be read. */
struct machine_identity {
	char vendor[32]; /* vendor_id, or "CPU implementer" in hexadecimal */
	char name[96];
	char flags[4096]; /* words between blanks */
	unsigned family, model;
	uint64_t hz; /* often the time-stamp counter's */
};
void machine_identify(const char *root, struct machine_identity *id);
/* The description of ours that fits best; l1i: bytes of the first-level instruction cache, 0 if
 * unknown. *exact: it is for exactly this processor; else for the nearest one. */
const char *machine_family(const struct machine_identity *id, uint32_t l1i, bool *exact);

/* Applies changes, KEY=VALUE separated by commas; of caches and TLBs a VALUE may be partial. The
 * machine's name gets a '+'. On failure m is half changed. */
int machine_change(struct machine *m, const char *changes, struct error *e);

/* machine_parse on the file at path. */
int machine_load(const char *path, struct machine *m, struct error *e);

/* Data that x86 processors give about themselves. The leaves come from a function so that tests can
 * imitate any processor. */
struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};
typedef struct cpuid cpuid_function(uint32_t leaf, uint32_t subleaf);
/* The real one; NULL if there is no such instruction. */
cpuid_function *machine_cpuid(void);
/* Takes over the leaves' values; fields without a value, or with an impossible one, do not change.
 * Returns whether anything was taken over. */
bool machine_cpuid_tlbs(cpuid_function *cpuid, struct model_config *c);
bool machine_cpuid_caches(cpuid_function *cpuid, struct model_config *c);
/* The highest frequency as leaf 0x16 states it; 0: unknown. */
uint64_t machine_cpuid_hz(cpuid_function *cpuid);

/* The core's clock, as timed with a chain of dependent one-cycle instructions (some 60 ms). */
struct machine_clock_timing {
	uint64_t hz;    /* 0: it cannot be timed here */
	double scatter; /* the middle four fifths of the bursts, as a part of their median; 1: most
			   were disturbed */
};
struct machine_clock_timing machine_time_clock(void);
/* In steps of 0.1 GHz; 0: it is not known. */
uint64_t machine_clock_settled(struct machine_clock_timing t);
/* The same from n bursts of this number of cycles each, which it sorts. */
struct machine_clock_timing machine_judge_clock(uint64_t *ns, size_t n, uint64_t cycles);

/* Chooses the clock of a host: sets c->clock_hz and says how sure it is. real: it may be measured;
 * stated: what the system states as the highest, 0: nothing. *how: how it was found, for people. */
enum machine_clock_from machine_host_clock(const struct machine_identity *id, uint64_t stated,
	bool real, struct model_config *c, const char **how);

/* Replaces the constants of this host that were measured. */
void machine_host_constants(struct machine *m, const struct machine_identity *id);
/* The same from a text, "KEY N cycles, spread N" in a line each; other lines are ignored. */
void machine_take_constants(struct machine *m, const char *text);
/* Measures them on this host, and keeps them. */
int machine_measure_constants(
	const struct machine *host, struct progress *progress, struct error *e);
/* Those that differ from before are no longer measured. */
void machine_change_constants(struct machine *m, const struct model_config *before);

/* A rate that a processor can have. */
bool machine_plausible_hz(uint64_t hz);

#endif
