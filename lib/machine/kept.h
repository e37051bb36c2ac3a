/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of what was measured on this host. Root's is for all users, so that all get the same
 * figures: in /dev/shm until the host boots, and in /var/tmp beyond. Another user's is for this
 * user, in the cache below HOME where the name is taken; others compare their own figures with it.
 * A reader must check that its figures are possible.
 */
#ifndef MACHINE_KEPT_H
#define MACHINE_KEPT_H

#include <stdbool.h>

#include "machine/private.h"

enum kept_how_long {
	KEPT_BOOT,    /* until the next boot */
	KEPT_LASTING, /* beyond */
};

struct kept_file {
	const char *name;                 /* of the file, "clock" */
	bool (*usable)(const char *text); /* can these figures be? */
};

/* What is kept of this processor; to be freed by the caller. NULL: nothing usable. */
char *kept_read(const struct kept_file *file, const struct machine_identity *id,
	enum kept_how_long how_long);
/* What any user keeps for all. Where one's own figures are near, these may be used instead, so
 * that all users have the same; else they may not. */
char *kept_read_of_any_user(const struct kept_file *file, const struct machine_identity *id,
	enum kept_how_long how_long);
/*
 * Keeps text. Of several processes that keep text until the next boot at once, the first one's is
 * kept by all; lasting text replaces what the same user kept. Returns whether it, or another's, can
 * be read now.
 */
bool kept_write(const struct kept_file *file, const struct machine_identity *id,
	enum kept_how_long how_long, const char *text);

/* Can it be kept at all? */
bool kept_possible(const struct kept_file *file, enum kept_how_long how_long);

/* May this host be measured? PERFEX_HOST forbids it: with "none", nothing measured is used, so that
 * a test gives the same result everywhere; else it names a file of figures. */
bool kept_measures(void);
/* The text of that file, to be freed by the caller. NULL: none is given, or *e says why it cannot
 * be read. */
char *kept_given(struct error *e);

/* Other directories, for tests; they must last as long as they are used. NULL: there is none. */
void kept_directories(const char *boot, const char *lasting);

#endif
