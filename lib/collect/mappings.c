/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/mappings.h"

#include <string.h>

size_t mappings_after(const struct process *p, uint64_t address)
{
	return vec_search(i, p->mappings.count, p->mappings.data[i].end <= address);
}

int mappings_insert(struct process *p, size_t at, const struct mapping *m)
{
	struct mapping *list, *last = vec_push(&p->mappings);

	if (!last)
		return -1;
	list = p->mappings.data;
	memmove(list + at + 1, list + at, (p->mappings.count - 1 - at) * sizeof(*list));
	list[at] = *m;
	return 0;
}

long mappings_clear(struct process *p, uint64_t begin, uint64_t end)
{
	size_t at = mappings_after(p, begin), to;
	struct mapping *m = at < p->mappings.count ? &p->mappings.data[at] : NULL;

	if (m && m->begin < begin) {
		struct mapping rest = *m;

		m->end = begin;
		at++;
		if (rest.end > end) { /* the new one is within */
			rest.offset += end - rest.begin;
			rest.begin = end;
			return mappings_insert(p, at, &rest) ? -1 : (long)at;
		}
	}
	for (to = at; to < p->mappings.count && p->mappings.data[to].end <= end; to++)
		;
	if (to < p->mappings.count && p->mappings.data[to].begin < end) {
		m = &p->mappings.data[to];
		m->offset += end - m->begin;
		m->begin = end;
	}
	memmove(p->mappings.data + at, p->mappings.data + to,
		(p->mappings.count - to) * sizeof(*m));
	p->mappings.count -= to - at;
	return (long)at;
}
