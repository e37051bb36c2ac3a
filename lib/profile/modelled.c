/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/modelled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waited_insn { /* table entry */
	struct {
		uint64_t address;
		uint32_t image, reserved;
	} key;
	struct prof_waited waited;
};

/* One of the words of a type, such as "explain,usertime". */
static bool modelled_has_type(const char *type, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = type; at && (at = strstr(at, word)); at += length)
		if ((at == type || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

bool profile_second_run(const struct prof_data *d, size_t metric)
{
	const struct prof_metric *m = &d->metrics.data[metric];

	return m->metric->flags & METRIC_EXACT && m->metric->label == LABEL_MODEL &&
	       modelled_has_type(d->request->inputs[m->input].experiment->type, "explain");
}

/* A program is the same by any path. */
static const char *modelled_words(const struct experiment_fact *command)
{
	size_t program = strcspn(command->value, " ");
	const char *slash = memrchr(command->value, '/', program);

	return slash ? slash + 1 : command->value;
}

static bool modelled_differ(const struct experiment *a, const struct experiment *b)
{
	const struct experiment_fact *one = experiment_fact_row(a, "command"),
				     *other = experiment_fact_row(b, "command");

	return one && other && !one->several && !other->several &&
	       strcmp(modelled_words(one), modelled_words(other)) != 0;
}

bool profile_counts_foreign(const struct prof_data *d, size_t input)
{
	const struct experiment *own = d->request->inputs[input].experiment;
	bool exact = false, foreign = false;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];

		if (m->input == input)
			exact = exact || m->metric->flags & METRIC_EXACT;
		else if (!(m->metric->flags & METRIC_EXACT))
			foreign = foreign ||
				  modelled_differ(own, d->request->inputs[m->input].experiment);
	}
	return exact && foreign;
}

bool profile_has_waits(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++)
		if (d->request->inputs[i].experiment->waits.count)
			return true;
	return false;
}

static int take_waits(struct prof_modelled *m, const struct prof_data *d, size_t input)
{
	const struct experiment *x = d->request->inputs[input].experiment;

	for (size_t i = 0; i < x->waits.count; i++) {
		const struct experiment_wait *w = experiment_wait_at(x, i);
		struct waited_insn key = {.key = {.address = w->key.address}}, *to;
		double cycles = (double)w->parts / EXPERIMENT_WAIT_PARTS;

		if (w->key.image >= x->images.count || w->key.cause >= WAIT_CAUSES)
			continue;
		key.key.image = d->image_of.data[input][w->key.image];
		to = table_add(&m->insns, &key.key);
		if (!to)
			return -1;
		to->waited.cycles[w->key.cause] += cycles;
		to->waited.all += cycles;
		m->all += cycles;
	}
	return 0;
}

int profile_modelled_init(struct prof_modelled *m, const struct prof_data *d)
{
	memset(m, 0, sizeof(*m));
	m->insns = TABLE_OF(struct waited_insn);
	for (size_t i = 0; i < d->request->count; i++)
		if (take_waits(m, d, i))
			return -1;
	return 0;
}

void profile_modelled_fini(struct prof_modelled *m)
{
	table_fini(&m->insns);
}

const struct prof_waited *profile_waited_at(
	const struct prof_modelled *m, uint32_t image, uint64_t address)
{
	const struct waited_insn key = {.key = {.address = address, .image = image}};
	const struct waited_insn *found = m->insns.count ? table_find(&m->insns, &key.key) : NULL;

	return found ? &found->waited : NULL;
}

void profile_waited_add(struct prof_waited *to, const struct prof_waited *from)
{
	for (unsigned k = 0; k < WAIT_CAUSES; k++)
		to->cycles[k] += from->cycles[k];
	to->all += from->all;
}

/* An instruction of several threads has a place for each: its waits, which are of no thread, belong
 * to the first. */
struct prof_waited *profile_waited_of(
	const struct prof_modelled *m, const struct prof_data *d, const struct prof_sums *s)
{
	struct prof_waited *of = calloc(s->entities.count + 1, sizeof(*of));
	bool *taken = calloc(m->insns.count + 1, sizeof(*taken));

	for (size_t i = 0; of && taken && i < d->places.count; i++) {
		const struct profile_place *p = profile_place_at(d, i);
		const struct waited_insn key = {
			.key = {.address = p->key.address, .image = p->key.image}};
		const struct waited_insn *found = table_find(&m->insns, &key.key);

		if (!found || taken[table_number(&m->insns, found)])
			continue;
		taken[table_number(&m->insns, found)] = true;
		profile_waited_add(&of[s->of[i]], &found->waited);
	}
	if (!taken) {
		free(of);
		of = NULL;
	}
	free(taken);
	return of;
}

void profile_waited_text(const struct prof_waited *w, unsigned count, char *text, size_t size)
{
	bool said[WAIT_CAUSES] = {false};
	size_t used = 0;

	text[0] = '\0';
	for (unsigned n = 0; n < count && used < size; n++) {
		unsigned most = 0;
		double percent;

		for (unsigned k = 1; k < WAIT_CAUSES; k++)
			if (!said[k] && (said[most] || w->cycles[k] > w->cycles[most]))
				most = k;
		percent = w->all > 0 ? 100 * w->cycles[most] / w->all : 0;
		if (said[most] || percent < (n ? 5 : 0.5))
			break;
		said[most] = true;
		used += (size_t)snprintf(text + used, size - used, "%s%s %.0f%%", n ? ", " : "",
			experiment_wait_words[most], percent);
	}
}
