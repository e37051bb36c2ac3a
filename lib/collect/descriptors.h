/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the descriptors of running processes are, by /proc: files, pipes, sockets and their peers.
 * A descriptor is looked at again in each round, as its number may be reused; a limited number of
 * them, so that many descriptors do not cost much.
 */
#ifndef COLLECT_DESCRIPTORS_H
#define COLLECT_DESCRIPTORS_H

#include <sys/types.h>

#include "base/table.h"
#include "experiment/pauses.h"

struct descriptors {
	struct table known; /* by process and number */
	struct table nodes; /* pipes and sockets, by inode */
	uint64_t round;
	unsigned looks; /* in this round */
	unsigned pipes, unnamed;
};

struct descriptor {
	struct {
		uint32_t pid;
		int32_t number;
	} key;
	uint64_t round;
	enum experiment_pause_reason reason;
	char *name;
};

void descriptors_init(struct descriptors *d);
/* Descriptors may have changed. */
void descriptors_round(struct descriptors *d);
/* Valid until the next call. NULL: memory is out. A descriptor that cannot be looked at has an
 * unknown reason. */
const struct descriptor *descriptors_find(struct descriptors *d, pid_t pid, int number);
void descriptors_fini(struct descriptors *d);

/* Parses a line of /proc/net: 0, and the connection as text ("tcp 127.0.0.1:80") if it is of this
 * inode; -1 otherwise. kind: "tcp", "tcp6", "udp", "udp6", "unix". */
int descriptors_parse(const char *kind, const char *line, uint64_t inode, char *to, size_t size);

#endif
