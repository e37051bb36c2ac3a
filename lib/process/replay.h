/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Standard input for runs of one command, so that further ones read what the first could read.
 *
 * A file is read again from where it was. What comes through a pipe or a socket passes through us:
 * a thread copies it into a temporary file (without a name) on its way to the command, at the pace
 * of the command, so we wait for no input that the command does not read. A terminal is left to the
 * first run; the second one's input is empty.
 */
#ifndef PROCESS_REPLAY_H
#define PROCESS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum replay_kind { REPLAY_EMPTY, REPLAY_FILE, REPLAY_STREAM };

struct replay_pump; /* the thread and what it knows */

struct replay {
	enum replay_kind kind;
	int from;                 /* the original; borrowed */
	off_t begin, end;         /* of a file: where each run begins, where the first one ended */
	int input;                /* for the first run; 0: the original */
	int second;               /* for the second run; -1: not yet */
	struct replay_pump *pump; /* of a stream */
};

/* from: a descriptor, usually 0. limit: bytes of a stream that are kept at most. -1 with *e set:
 * nothing was read, and replay_end is not needed. */
int replay_begin(struct replay *r, int from, uint64_t limit, struct error *e);
/* After the first run: *input for the second, valid until replay_end; called again, for the next.
 * -1 with *e set: there was more than the limit, or it could not be kept. */
int replay_again(struct replay *r, int *input, struct error *e);
/* Leaves a file where the first run left it. */
void replay_end(struct replay *r);

#endif
