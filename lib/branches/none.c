/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For processors whose instructions this library cannot carry out. */
#include <stddef.h>

#include "branches/branches.h"

#include <stddef.h>

struct branches *branches_new(const struct branches_request *r, struct error *e)
{
	(void)r;
	error_set(e, ERR_UNSUPPORTED, "branch records need x86-64");
	return NULL;
}

int branches_descriptor(const struct branches *b)
{
	(void)b;
	return -1;
}

bool branches_ended(struct branches *b, int *status, struct rusage *usage)
{
	(void)b;
	(void)status;
	(void)usage;
	return false;
}

uint64_t branches_horizon(struct branches *b)
{
	(void)b;
	return 0;
}

const struct branch_record *branches_take(struct branches *b, size_t *count)
{
	(void)b;
	*count = 0;
	return NULL;
}

void branches_charge(struct branches *b, struct branches_charge spent)
{
	(void)b;
	(void)spent;
}

void branches_beside(struct branches *b, uint64_t ns)
{
	(void)b;
	(void)ns;
}

void branches_reserve(struct branches *b, uint64_t ns)
{
	(void)b;
	(void)ns;
}

const char *branches_notice(struct branches *b)
{
	(void)b;
	return NULL;
}

void branches_stop(struct branches *b)
{
	(void)b;
}

void branches_free(struct branches *b)
{
	(void)b;
}
