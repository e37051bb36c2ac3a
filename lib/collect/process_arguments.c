/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/process_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sort.h"

enum { ARGUMENTS_MOST = 160, ARGUED_MOST = 256 };

int process_arguments_read(pid_t pid, char **to)
{
	char text[ARGUMENTS_MOST + 1], *copy;
	size_t n = proc_read(pid, "cmdline", text, sizeof(text)), first;

	first = strlen(text) + 1;
	while (n && !text[n - 1])
		n--;
	for (size_t i = first; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	copy = strdup(first < n ? text + first : "");
	if (!copy)
		return -1;
	free(*to);
	*to = copy;
	return 0;
}

struct busy {
	uint64_t samples;
	uint32_t process;
};

static int busy_order(const void *pa, const void *pb)
{
	const struct busy *a = pa, *b = pb;

	return sort_falling(a->samples, b->samples) ?: sort_rising(a->process, b->process);
}

int process_arguments_limit(struct experiment *x)
{
	struct busy *busy;

	if (x->processes.count <= ARGUED_MOST)
		return 0;
	busy = calloc(x->processes.count, sizeof(*busy));
	if (!busy)
		return -1;
	for (size_t i = 0; i < x->processes.count; i++)
		busy[i].process = (uint32_t)i;
	for (size_t i = 0; i < x->samples.count; i++) {
		const struct experiment_sample *own = experiment_sample_at(x, i);

		busy[x->threads.data[own->key.thread].process].samples += own->count;
	}
	qsort(busy, x->processes.count, sizeof(*busy), busy_order);
	for (size_t i = ARGUED_MOST; i < x->processes.count; i++)
		x->processes.data[busy[i].process].arguments[0] = '\0';
	free(busy);
	return 0;
}
