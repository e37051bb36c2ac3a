/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "browse/choices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sort.h"
#include "profile/entities.h"

/* Samples of the first metric by thread, image and phase of an experiment. */
struct counted {
	const struct experiment *x;
	uint64_t *thread, *image, *phase;
	uint64_t all;
};

static void counted_fini(struct counted *n)
{
	free(n->thread);
	free(n->image);
	free(n->phase);
}

static int choices_count(struct counted *n, const struct experiment *x)
{
	*n = (struct counted){.x = x,
		.thread = calloc(x->threads.count + 1, sizeof(*n->thread)),
		.image = calloc(x->images.count + 1, sizeof(*n->image)),
		.phase = calloc(x->phases.count + 1, sizeof(*n->phase))};
	if (!n->thread || !n->image || !n->phase)
		return -1;
	for (size_t i = 0; i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		const struct experiment_node *node = experiment_node_at(x, s->key.node);

		if (s->key.metric)
			continue;
		n->all += s->count;
		n->thread[s->key.thread] += s->count;
		n->image[node->key.image] += s->count;
		if (s->key.phase < x->phases.count)
			n->phase[s->key.phase] += s->count;
	}
	return 0;
}

/* A word that is too long would be another one. */
static void choices_offer(browse_choices *c, enum tui_choice_kind kind, const char *prefix,
	const char *pattern, const char *name, double percent)
{
	struct tui_choice own = {.kind = kind, .percent = percent}, *slot;

	if (!pattern ||
		snprintf(own.word, sizeof(own.word), "%s%s", prefix, pattern) >=
			(int)sizeof(own.word) ||
		snprintf(own.name, sizeof(own.name), "%s", name) >= (int)sizeof(own.name))
		return;
	slot = vec_push(c);
	if (slot)
		*slot = own;
}

static void choices_offer_name(browse_choices *c, enum tui_choice_kind kind, const char *prefix,
	const char *name, double percent)
{
	char *pattern = name && *name ? profile_only_name(name) : NULL;

	choices_offer(c, kind, prefix, pattern, name, percent);
	free(pattern);
}

static void choices_offer_number(browse_choices *c, enum tui_choice_kind kind, const char *prefix,
	int64_t number, const char *name, double percent)
{
	char word[24], text[160];

	snprintf(word, sizeof(word), "%" PRId64, number);
	snprintf(
		text, sizeof(text), "%s%s%.100s", word, name && *name ? " " : "", name ? name : "");
	choices_offer(c, kind, prefix, word, text, percent);
}

static void choices_offer_threads(browse_choices *c, const struct counted *n)
{
	const struct experiment *x = n->x;

	for (size_t i = 0; i < x->threads.count; i++) {
		const struct experiment_thread *t = &x->threads.data[i];
		const struct experiment_process *p =
			t->process < x->processes.count ? &x->processes.data[t->process] : NULL;
		const char *command = p ? p->command : NULL;
		double percent = 100.0 * (double)n->thread[i] / (double)(n->all ? n->all : 1);

		if (!n->thread[i])
			continue;
		choices_offer_number(c, TUI_CHOICE_THREAD, "thread:", t->tid,
			t->name && *t->name ? t->name : command, percent);
		if (t->cpu)
			choices_offer_number(
				c, TUI_CHOICE_CPU, "cpu:", (int64_t)t->cpu - 1, NULL, percent);
		if (!p)
			continue;
		choices_offer_number(c, TUI_CHOICE_PROCESS, "process:", p->pid, command, percent);
		choices_offer_name(c, TUI_CHOICE_COMMAND, "command:", command, percent);
	}
}

static void choices_offer_images(browse_choices *c, const struct counted *n)
{
	for (size_t i = 0; i < n->x->images.count; i++)
		if (n->image[i])
			choices_offer_name(c, TUI_CHOICE_IMAGE, "",
				file_base_name(n->x->images.data[i].path),
				100.0 * (double)n->image[i] / (double)n->all);
}

/* A phase is named as the point that it begins with. */
static void choices_offer_phases(browse_choices *c, const struct counted *n)
{
	for (size_t i = 0; i < n->x->phases.count; i++) {
		const char *name = n->x->phases.data[i].name;
		bool number = !name || !name[strspn(name, "0123456789")];
		char span[48];

		if (!n->phase[i])
			continue;
		snprintf(span, sizeof(span), "%zu,%zu", i, i + 1);
		choices_offer(c, TUI_CHOICE_PHASE, "",
			!i || number || strchr(name, ',') ? span : name,
			!i       ? "before the first caliper point"
			: number ? span
				 : name,
			100.0 * (double)n->phase[i] / (double)n->all);
	}
}

static int choices_by_word(const void *pa, const void *pb)
{
	const struct tui_choice *a = pa, *b = pb;

	return sort_rising(a->kind, b->kind) ?: strcmp(a->word, b->word);
}

static int choices_by_share(const void *pa, const void *pb)
{
	const struct tui_choice *a = pa, *b = pb;

	return sort_rising(a->kind, b->kind)
		       ?: sort_falling_number(a->percent, b->percent)
		       ?: choices_by_word(pa, pb);
}

/* What several rows stand for is one choice. */
static void choices_merge(browse_choices *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct tui_choice *last = kept ? &c->data[kept - 1] : NULL;

		if (last && choices_by_word(last, &c->data[i]) == 0)
			last->percent += c->data[i].percent;
		else
			c->data[kept++] = c->data[i];
	}
	c->count = kept;
}

void browse_choices_list(browse_choices *c, const struct prof_request *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct counted n;

		if (choices_count(&n, r->inputs[i].experiment) == 0) {
			choices_offer_threads(c, &n);
			choices_offer_images(c, &n);
			choices_offer_phases(c, &n);
		}
		counted_fini(&n);
	}
	if (!c->count)
		return;
	qsort(c->data, c->count, sizeof(*c->data), choices_by_word);
	choices_merge(c);
	qsort(c->data, c->count, sizeof(*c->data), choices_by_share);
	for (size_t i = 0; i < c->count; i++)
		c->data[i].percent /= (double)r->count;
}
