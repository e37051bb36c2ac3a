/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/report_values.h"

#define DECIMAL 10000000 /* numbers below are shown in decimal */
#define SHOWN   3        /* values of a row */
#define LITTLE  0.1      /* percent; shares below are not shown */

static const char *const access_words[VALUE_ACCESSES] = {"load", "store", "splits a line",
	"splits a page", "forwarded", "blocked", "4K alias", "redundant", "silent", "dead", "used",
	"chases"};

static const char *const operation_words[VALUE_OPERATIONS] = {
	"zero", "one", "power of 2", "fits 32 bits", "denormal", "NaN", "infinite", "zero"};

static const char *const watch_words[VALUE_WATCHES] = {
	"load", "store", "silent", "dead", "used", "reloaded", "replaced", "open"};

static const char *float_text(struct report_table *t, uint64_t value, unsigned bits)
{
	double d;
	float f;
	uint32_t word = (uint32_t)value;

	if (bits == 32) {
		memcpy(&f, &word, sizeof(f));
		d = (double)f;
	} else {
		memcpy(&d, &value, sizeof(d));
	}
	return report_text(t, "%.9g", d);
}

/* Signed where it is a small negative number of its width. */
static const char *integer_text(struct report_table *t, uint64_t value, unsigned bits)
{
	uint64_t top = bits && bits < 64 ? 1ull << bits : 0, negative = top - value;

	if (value < DECIMAL)
		return report_text(t, "%" PRIu64, value);
	if (bits >= 32 && negative < DECIMAL)
		return report_text(t, "-%" PRIu64, negative);
	return report_text(t, "0x%" PRIx64, value);
}

static const char *bits_text(struct report_table *t, const struct prof_value_site *s, uint64_t bits)
{
	const char *const *words = operation_words, *text = "";
	unsigned all = VALUE_OPERATIONS;

	if (s->key.kind == VALUE_ACCESS) {
		words = access_words;
		all = VALUE_ACCESSES;
	} else if (s->key.kind == VALUE_WATCH) {
		words = watch_words;
		all = VALUE_WATCHES;
	}
	for (unsigned k = 0; k < all; k++)
		if (bits >> k & 1)
			text = report_text(t, "%s%s%s", text, text[0] ? "+" : "", words[k]);
	return text[0] ? text : "none";
}

/* "L1", or "L1-L2" where these were not distinguished. */
static const char *level_text(struct report_table *t, uint64_t levels)
{
	static const char *const words[] = {"L1", "L2", "last", "memory"};
	uint64_t first = (levels & 15) - 1, last = (levels >> 4) - 1;

	if (first >= 4 || last >= 4 || last < first)
		return report_text(t, "level 0x%" PRIx64, levels);
	if (first == last)
		return words[first];
	return report_text(t, "%s-%s", words[first], words[last]);
}

/* Function and offset, or variable. */
static const char *value_place_text(
	struct report_table *t, const struct prof_data *d, uint32_t image, uint64_t address)
{
	struct image_symbol symbol = {0};

	if (d->names.ops->symbol(d->names.context, image, address, &symbol) == 0 && symbol.name) {
		if (address == symbol.address)
			return symbol.name;
		return report_text(t, "%s+0x%" PRIx64, symbol.name, address - symbol.address);
	}
	return report_text(t, "%s:0x%" PRIx64, d->images.data[image].name, address);
}

/* As the user's module names it; NULL: it does not. */
static const char *named_value(
	const struct prof_data *d, const struct prof_value_site *s, uint64_t value)
{
	const char *name = NULL;
	char key[40];

	snprintf(key, sizeof(key), EXPERIMENT_VALUE_NAMED, (int)(s->key.kind - VALUE_USER),
		(int)value);
	for (size_t i = 0; !name && i < d->request->count; i++)
		name = experiment_fact_find(d->request->inputs[i].experiment, key);
	return name;
}

const char *report_value_text(struct report_table *t, const struct prof_data *d,
	const struct prof_value_site *s, const struct experiment_value *value)
{
	unsigned bits = profile_value_bits(s);
	const char *name = NULL;

	if (value->key.image)
		return value_place_text(t, d, value->key.image, value->key.value);
	if (s->key.kind == VALUE_LEVEL)
		return level_text(t, value->key.value);
	if (profile_value_is_rank(s))
		return report_text(t, "#%" PRIu64, value->key.value);
	switch (profile_value_class(s)) {
	case VALUE_FLOAT:
		return float_text(t, value->key.value, bits);
	case VALUE_BITS:
		return bits_text(t, s, value->key.value);
	case VALUE_PLACE:
	case VALUE_VECTOR:
		return report_text(t, "0x%" PRIx64, value->key.value);
	default:
		break;
	}
	if (s->key.kind >= VALUE_USER && value->key.value < VALUE_NAMED)
		name = named_value(d, s, value->key.value);
	return name ? name : integer_text(t, value->key.value, bits);
}

bool report_values_frequent(const struct prof_value_site *s)
{
	struct value_share share;

	if (!s->list.count)
		return false;
	share = value_share_of(&s->sums, &s->list.data[0]);
	return share.share * 16 >= 1 && s->list.data[0].sure;
}

static const char *range_text(struct report_table *t, const struct prof_value_site *s)
{
	uint64_t low = ~s->sums.low_complement;

	if (profile_value_class(s) != VALUE_INTEGER)
		return "no frequent value";
	if (profile_value_is_rank(s))
		return report_text(t, "none frequent: up to %u bits",
			s->sums.high ? 64 - (unsigned)__builtin_clzll(s->sums.high) : 0);
	return report_text(t, "none frequent: %s to %s",
		integer_text(t, low, profile_value_bits(s)),
		integer_text(t, s->sums.high, profile_value_bits(s)));
}

size_t report_values_rivals(const struct prof_value_site *s)
{
	bool few = s->sums.moments < VALUES_MOMENTS_FEW || !s->list.count;
	double low = few ? 0 : report_value_share(s, &s->list.data[0]).low;
	size_t rivals = 0;

	for (size_t i = 1; !few && i < s->list.count && i < REPORT_VALUES_LISTED; i++)
		if (report_value_share(s, &s->list.data[i]).high >= low)
			rivals = i;
	return rivals;
}

struct quantity report_values_rival_count(const struct prof_value_site *s)
{
	const struct quantity none = {.label = LABEL_NONE};

	if (s->sums.moments < VALUES_MOMENTS_FEW)
		return none;
	return quantity_exact((double)report_values_rivals(s), LABEL_ESTIMATED);
}

/* Whether a value is frequent enough to be shown after the first. */
static bool shown_too(const struct prof_value_site *s, size_t i)
{
	return i < s->list.count && s->list.data[i].sure &&
	       value_share_of(&s->sums, &s->list.data[i]).share * 100 >= LITTLE;
}

const char *report_values_text(struct report_values *w, const struct prof_value_site *s)
{
	size_t rivals = report_values_rivals(s), i;
	const char *text;

	if (!report_values_frequent(s))
		return range_text(w->t, s);
	text = report_value_text(w->t, w->d, s, &s->list.data[0]);
	for (i = 1; i < SHOWN && shown_too(s, i); i++)
		text = report_text(w->t, "%s%s %s %.1f%%", text, i <= rivals ? " or" : ",",
			report_value_text(w->t, w->d, s, &s->list.data[i]),
			100 * value_share_of(&s->sums, &s->list.data[i]).share);
	w->rivals |= rivals > 0;
	return rivals < i ? text : report_text(w->t, "%s or others", text);
}

/* Of a branch, taken or not. */
static const char *brief_value(struct report_table *t, const struct prof_data *d,
	const struct prof_value_site *s, const struct experiment_value *value)
{
	if (s->key.kind == VALUE_BRANCH && profile_value_class(s) == VALUE_INTEGER)
		return value->key.value ? "taken" : "not taken";
	return report_value_text(t, d, s, value);
}

static const char *brief_share(struct report_table *t, const struct prof_data *d,
	const struct prof_value_site *s, size_t i, bool brief)
{
	const char *value = brief_value(t, d, s, &s->list.data[i]);
	double percent = 100 * value_share_of(&s->sums, &s->list.data[i]).share;

	return brief ? report_text(t, "%s %.3g%%", value, percent)
		     : report_text(t, "%s %.1f%%", value, percent);
}

const char *report_values_first(struct report_table *t, const struct prof_data *d,
	const struct prof_value_site *s, bool brief)
{
	size_t rivals = report_values_rivals(s);
	const char *text = brief_share(t, d, s, 0, brief);

	if (rivals == 0)
		return text;
	if (rivals > 1 || !shown_too(s, 1))
		return report_text(t, "%s or others", text);
	return report_text(t, "%s or %s", text, brief_share(t, d, s, 1, brief));
}

/* As the user's module calls it. */
static const char *user_kind(
	struct report_table *t, const struct prof_data *d, const struct prof_value_site *s)
{
	unsigned kind = s->key.kind - VALUE_USER;
	const char *name = NULL;
	char key[40];

	snprintf(key, sizeof(key), EXPERIMENT_VALUE_NAME, (int)kind);
	for (size_t i = 0; !name && i < d->request->count; i++)
		name = experiment_fact_find(d->request->inputs[i].experiment, key);
	return name ? name : report_text(t, "module's %u", kind);
}

const char *report_values_what(
	struct report_table *t, const struct prof_data *d, const struct prof_value_site *s)
{
	const char *word =
		s->key.kind < VALUE_KINDS ? experiment_value_kinds[s->key.kind] : "unknown";

	if (s->key.kind >= VALUE_USER)
		return user_kind(t, d, s);
	if (s->key.kind == VALUE_ARGUMENT)
		return s->key.operand < 8 ? report_text(t, "argument %u", s->key.operand + 1)
					  : report_text(t, "argument xmm%u", s->key.operand - 8);
	if (s->key.kind == VALUE_OPERAND)
		return s->key.operand ? "second operand" : "first operand";
	return word ? word : "unknown";
}

struct value_share report_values_bits(
	const struct prof_value_site *s, uint64_t bits, uint64_t of, uint64_t *count)
{
	struct experiment_value_site base = s->sums;
	struct experiment_value some = {0};
	uint64_t all = 0;

	/* Masks are few, so lists are nearly always whole, and their counts are exact. */
	for (size_t i = 0; i < s->list.count; i++) {
		const struct experiment_value *v = &s->list.data[i];

		if ((v->key.value & of) != of)
			continue;
		all += v->sure;
		if ((v->key.value & bits) != bits)
			continue;
		some.sure += v->sure;
		some.over += v->sure;
		some.squares += v->squares;
		some.products += v->products;
	}
	*count = some.sure;
	base.least = 0;
	if (of)
		return value_share_counted(&base, some.sure, all);
	return value_share_of(&base, &some);
}

struct value_share report_value_share(
	const struct prof_value_site *s, const struct experiment_value *value)
{
	return s->key.kind == VALUE_LEVEL ? value_share_fitted(&s->sums, value)
					  : value_share_of(&s->sums, value);
}

const char *report_levels_text(
	struct report_table *t, const struct prof_data *d, const struct prof_value_site *s)
{
	const char *text = "";

	for (size_t i = 0; i < s->list.count; i++) {
		struct value_share share = report_value_share(s, &s->list.data[i]);

		if (share.share * 100 >= LITTLE)
			text = report_text(t, "%s%s%s %.1f%%", text, text[0] ? ", " : "",
				report_value_text(t, d, s, &s->list.data[i]), 100 * share.share);
	}
	return text;
}

/* Of a timed load. */
static const char *levels_brief(struct report_table *t, const struct prof_data *d,
	const struct prof_values *v, uint32_t image, uint64_t address)
{
	for (uint32_t form = 0; form < 2; form++) {
		const struct prof_value_site *s =
			profile_value_find(v, image, address, VALUE_LEVEL, form);

		if (s && s->sums.count >= REPORT_VALUES_LEAST)
			return report_levels_text(t, d, s);
	}
	return NULL;
}

const char *report_values_brief(struct report_table *t, const struct prof_data *d,
	const struct prof_values *v, uint32_t image, uint64_t address)
{
	static const struct {
		uint32_t kind, operand;
	} of[] = {{VALUE_RESULT, 0}, {VALUE_STORE, 0}, {VALUE_LOAD, 0}, {VALUE_OPERAND, 1},
		{VALUE_BRANCH, 0}};
	const struct prof_value_site *best = NULL;
	const char *text = levels_brief(t, d, v, image, address);
	double share = 0;

	if (text)
		return text;

	for (size_t k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		const struct prof_value_site *s =
			profile_value_find(v, image, address, of[k].kind, of[k].operand);
		double top;

		if (!s || s->sums.count < REPORT_VALUES_LEAST || !report_values_frequent(s))
			continue;
		top = value_share_of(&s->sums, &s->list.data[0]).share;
		if (!best || top > share) {
			best = s;
			share = top;
		}
	}
	if (!best)
		return NULL;
	text = report_values_first(t, d, best, true);
	return best->key.kind == VALUE_OPERAND ? report_text(t, "by %s", text) : text;
}

struct quantity report_values_percent(struct value_share share)
{
	struct quantity q = {100 * share.share, 100 * share.low, 100 * share.high, LABEL_ESTIMATED};

	if (share.few) {
		q.low = 0;
		q.high = 100;
	}
	return q;
}
