/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"

/* ---- one name ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Bytes of "operator<<", "operator()", "operator->" ... at name + at; 0: there is none. A type's
 * conversion ("operator bool") is the word alone. */
static size_t operator_length(const char *name, size_t at)
{
	/* longer ones first: "operator+<char>" has arguments of a template */
	static const char *const signs[] = {"->*", "<=>", "<<=", ">>=", "()", "[]", "->", "<<",
		">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
		"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&",
		"|", "~", "!", "=", "<", ">", ","};
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	if (strncmp(name + at, word, n) != 0 || (at && is_word(name[at - 1])) ||
		is_word(name[at + n]))
		return 0;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strncmp(name + at + n, signs[i], strlen(signs[i])) == 0)
			return n + strlen(signs[i]);
	return n;
}

/* The end of the group that begins at name + at, after its bracket; the name's end if it is open.
 */
static size_t group_end(const char *name, size_t at)
{
	size_t depth = 0, skip;

	for (; name[at]; at++) {
		if ((skip = operator_length(name, at))) {
			at += skip - 1;
			continue;
		}
		if (name[at] == '-' && name[at + 1] == '>') {
			at++;
			continue;
		}
		if (strchr("<([{", name[at]))
			depth++;
		else if (strchr(">)]}", name[at]) && depth && --depth == 0)
			return at + 1;
	}
	return 0;
}

/* Are all groups closed? Other names are left as they are. */
static bool is_closed(const char *name)
{
	size_t skip;

	for (size_t at = 0; name[at];) {
		if ((skip = operator_length(name, at)))
			at += skip;
		else if (!strchr("<([{", name[at]))
			at++;
		else if (!(at = group_end(name, at)))
			return false;
	}
	return true;
}

/* The parameters: the last group of parentheses outside of all others that no name follows. Returns
 * false if there is none. */
static bool find_parameters(const char *name, size_t *begin, size_t *end)
{
	bool found = false;
	size_t skip;

	for (size_t at = 0; name[at];) {
		if ((skip = operator_length(name, at))) {
			at += skip;
		} else if (strchr("<([{", name[at])) {
			size_t next = group_end(name, at);

			if (name[at] == '(' && at && strchr(" [&", name[next])) {
				*begin = at;
				*end = next;
				found = true;
			}
			at = next;
		} else {
			at++;
		}
	}
	return found;
}

/* Where the name begins after its return type, which templates have: after the last space outside
 * of all groups, before the parameters. "operator bool" has one of its own. */
static size_t name_begin(const char *name, size_t end)
{
	size_t begin = 0, skip;

	for (size_t at = 0; at < end;) {
		if ((skip = operator_length(name, at)))
			break;
		if (strchr("<([{", name[at])) {
			at = group_end(name, at);
			continue;
		}
		if (name[at] == ' ' && name[at + 1] != '[' && name[at + 1] != '(')
			begin = at + 1;
		at++;
	}
	return begin < end ? begin : 0;
}

/* name[from, to), with what is deeper than `depth` levels of template arguments left out; bare: and
 * implementations, which are a part of a path in Rust. */
static void put_templates(
	struct strbuf *out, const char *name, size_t from, size_t to, unsigned depth, bool bare)
{
	size_t skip, after = SIZE_MAX; /* an operator */

	for (size_t at = from; at < to;) {
		if ((skip = operator_length(name, at))) {
			skip += strncmp(name + at + skip, " <", 2) == 0;
			strbuf_add(out, name + at, skip);
			at += skip;
			after = at;
		} else if (name[at] == '<' && at > from &&
			   (at == after || is_word(name[at - 1]) ||
				   (bare && name[at - 1] == ':'))) {
			size_t end = group_end(name, at);

			if (end > to)
				end = to;
			if (!depth) {
				strbuf_puts(out, "<...>");
			} else {
				strbuf_putc(out, '<');
				put_templates(out, name, at + 1, end - 1, depth - 1, bare);
				strbuf_putc(out, '>');
			}
			at = end;
		} else {
			strbuf_putc(out, name[at++]);
		}
	}
}

/* Is there a boundary between words of a path: before or after "::"? */
static bool between_parts(const char *text, size_t at, bool after)
{
	return after ? at >= 2 && strncmp(text + at - 2, "::", 2) == 0
		     : strncmp(text + at, "::", 2) == 0;
}

static bool between_words(const char *text, size_t at, bool after)
{
	(void)after;
	return !at || !is_word(text[at - 1]) || !is_word(text[at]);
}

typedef bool boundary(const char *text, size_t at, bool after);

/* The last boundary in [from, to]; `otherwise` if there is none. */
static size_t last_boundary(
	const char *text, boundary *is, size_t from, size_t to, size_t otherwise)
{
	for (size_t at = to; at >= from && at; at--)
		if (is(text, at, true))
			return at;
	return otherwise;
}

static size_t first_boundary(
	const char *text, boundary *is, size_t from, size_t to, size_t otherwise)
{
	for (size_t at = from; at <= to; at++)
		if (is(text, at, false))
			return at;
	return otherwise;
}

/* Where the beginning of a text ends that has `half` bytes and may have `most`: after a part of a
 * path; else after a word, which may be a longer one; else within a word. */
static size_t head_end(const char *text, size_t half, size_t most)
{
	size_t at = last_boundary(text, between_parts, half / 2 + 1, half, 0);

	if (!at)
		at = last_boundary(text, between_words, half / 2 + 1, half, 0);
	if (!at)
		at = first_boundary(text, between_words, half, most, 0);
	return at ? at : half;
}

/* Beginning and end of a text that is too long: whole parts of a path, or whole words, if these
 * have half of the room of each. */
static void put_ends(struct strbuf *out, const char *text, size_t limit)
{
	size_t length = strlen(text), room = limit > 8 ? limit - 3 : 5, head = 0, tail;

	if (length <= limit) {
		strbuf_puts(out, text);
		return;
	}
	for (int n; (n = utf8_length(text + head)) > 0 && head + (size_t)n <= room / 2;)
		head += (size_t)n;
	head = head_end(text, head, room - room / 3);
	tail = length - (room - head);
	while (tail < length && ((unsigned char)text[tail] & 0xc0) == 0x80)
		tail++;
	if (tail < length)
		tail = first_boundary(text, between_parts, tail, length - room / 4,
			first_boundary(text, between_words, tail, length - room / 4, tail));
	while (head > 1 && text[head - 1] == '.') /* of "<...>" */
		head--;
	while (text[tail] == '.')
		tail++;
	strbuf_add(out, text, head);
	strbuf_printf(out, "...%s", text + tail);
}

void report_name_put(struct strbuf *out, const char *name, enum names_level level, size_t limit)
{
	unsigned depth = level >= NAMES_ARGUMENTS || level == NAMES_TYPES ? 0
			 : level == NAMES_INNER                           ? 1
									  : 1000;
	bool bare = level >= NAMES_BARE;
	struct strbuf text = {0};
	size_t begin = 0, end = 0, from = 0, to = strlen(name);

	if (level == NAMES_FULL) {
		strbuf_puts(out, name);
		return;
	}
	if (!is_closed(name)) {
		strbuf_puts(&text, name);
	} else if (level != NAMES_TYPES && find_parameters(name, &begin, &end)) {
		from = name_begin(name, begin);
		put_templates(&text, name, from, begin, depth, bare);
		if (!bare)
			strbuf_printf(&text, "%s%s", end > begin + 2 ? "(...)" : "()", name + end);
	} else {
		put_templates(&text, name, from, to, depth, bare);
	}
	if (level == NAMES_ENDS)
		put_ends(out, strbuf_text(&text), limit);
	else
		strbuf_puts(out, strbuf_text(&text));
	out->failed |= text.failed;
	strbuf_fini(&text);
}

/* ---- a report ---- */

struct named {
	const char *full, *shown;
	enum names_level level;
};

static int names_by_full(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->full, ((const struct named *)b)->full);
}

static int names_by_shown(const void *a, const void *b)
{
	return strcmp((*(struct named *const *)a)->shown, (*(struct named *const *)b)->shown);
}

static void name_at_level(
	struct report_table *t, struct named *n, enum names_level level, size_t limit)
{
	struct strbuf text = {0};

	report_name_put(&text, n->full, level, limit);
	n->level = level;
	n->shown = level == NAMES_FULL ? n->full : report_text(t, "%s", strbuf_text(&text));
	t->failed |= text.failed;
	strbuf_fini(&text);
}

/* The least shortened form that fits. */
static void name_fit(struct report_table *t, struct named *n, size_t limit)
{
	struct strbuf text = {0};
	enum names_level level = NAMES_FULL;

	while (level < NAMES_ENDS) {
		text.length = 0;
		report_name_put(&text, n->full, level, limit);
		if (text.length <= limit)
			break;
		level += level == NAMES_FULL ? NAMES_PARAMETERS : 1;
	}
	t->failed |= text.failed;
	strbuf_fini(&text);
	name_at_level(t, n, level, limit);
}

/* Names of one form become longer, until each is alone with its own. */
static bool separate(struct report_table *t, struct named **order, size_t count, size_t limit)
{
	bool changed = false;
	size_t end;

	qsort(order, count, sizeof(*order), names_by_shown);
	for (size_t i = 0; i < count && !t->failed; i = end) {
		for (end = i + 1; end < count && strcmp(order[i]->shown, order[end]->shown) == 0;)
			end++;
		for (size_t k = i; end > i + 1 && k < end; k++)
			if (order[k]->level > NAMES_FULL) {
				name_at_level(t, order[k], order[k]->level - 1, limit);
				changed = true;
			}
	}
	return changed;
}

static size_t distinct(struct named *names, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(names, count, sizeof(*names), names_by_full);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(names[kept - 1].full, names[i].full) != 0)
			names[kept++] = names[i];
	return kept;
}

/* Where names begin in a note: after "thread 12 name, ". */
static size_t note_begin(const char *note)
{
	const char *in, *called;

	if (strncmp(note, "thread", 6) != 0)
		return 0;
	in = strstr(note, ", in ");
	called = strstr(note, ", called by ");
	if (in && called)
		in = in < called ? in : called;
	else if (!in)
		in = called;
	return in ? (size_t)(in - note) + 2 : strlen(note);
}

/* The next name in the note of a row, from *at on: "inlined f", "in f, called by g < h", "<f>". */
static bool note_next(const char *note, size_t *at, size_t *end)
{
	static const char *const before[] = {
		"inlined ", "in ", "called by ", ", called by ", " < "};
	bool first = *at == 0;
	const char *stop;

	if (first)
		*at = note_begin(note);
	if (first && note[0] == '<') {
		*end = group_end(note, 0);
		*at = 1;
		return (*end)-- > 2;
	}
	for (size_t i = first ? 0 : 3; i < (first ? 3 : 5); i++) {
		size_t n = strlen(before[i]);

		if (strncmp(note + *at, before[i], n) != 0)
			continue;
		*at += n;
		*end = strlen(note);
		for (size_t k = 3; k < 5; k++)
			if ((stop = strstr(note + *at, before[k])) && (size_t)(stop - note) < *end)
				*end = (size_t)(stop - note);
		return *end > *at;
	}
	return false;
}

/* Has the note of a row names, and is it too long? Heads have phrases. */
static bool has_names(const struct report_row *r, size_t limit)
{
	return r->note && r->role != REPORT_HEAD && strlen(r->note) > limit;
}

static void note_shorten(
	struct report_table *t, struct report_row *r, const struct named *names, size_t count)
{
	struct strbuf text = {0};
	size_t done = 0;

	for (size_t at = 0, end; note_next(r->note, &at, &end); at = end) {
		const struct named key = {
			.full = report_text(t, "%.*s", (int)(end - at), r->note + at)};
		const struct named *n =
			key.full ? bsearch(&key, names, count, sizeof(key), names_by_full) : NULL;

		strbuf_add(&text, r->note + done, at - done);
		strbuf_puts(&text, n ? n->shown : key.full ? key.full : "");
		done = end;
	}
	if (done) {
		strbuf_puts(&text, r->note + done);
		r->note = report_text(t, "%s", strbuf_text(&text));
	}
	t->failed |= text.failed;
	strbuf_fini(&text);
}

struct named_vec {
	struct named *data;
	size_t count, capacity;
};

static bool push_name(struct named_vec *names, const char *name)
{
	struct named *n = name ? vec_push(names) : NULL;

	if (n)
		*n = (struct named){.full = name};
	return n != NULL;
}

/* All names of functions in a report; any: one is too long. */
static void collect_names(struct report_table *t, struct named_vec *names, size_t limit, bool *any)
{
	for (size_t i = 0; !t->failed && i < t->rows.count; i++) {
		const struct report_row *r = &t->rows.data[i];

		if (r->procedure) {
			t->failed |= !push_name(names, r->procedure);
			*any = *any || strlen(r->procedure) > limit;
		}
		for (size_t at = 0, end; has_names(r, limit) && note_next(r->note, &at, &end);
			at = end) {
			t->failed |= !push_name(
				names, report_text(t, "%.*s", (int)(end - at), r->note + at));
			*any = true;
		}
	}
}

/* Names of objects and of kinds of instructions are phrases. */
static bool has_functions(const struct report_table *t)
{
	return !t->report ||
	       (strncmp(t->report, "data", 4) != 0 && strcmp(t->report, "archinfo") != 0);
}

int report_names_shorten(struct report_table *t, size_t limit, struct error *e)
{
	struct named_vec names = {0};
	struct named **order = NULL;
	bool any = false;

	if (limit && has_functions(t))
		collect_names(t, &names, limit, &any);
	if (any && !t->failed && !(order = calloc(names.count, sizeof(*order))))
		t->failed = true;
	if (!t->failed && any) {
		names.count = distinct(names.data, names.count);
		for (size_t i = 0; i < names.count; i++) {
			name_fit(t, &names.data[i], limit);
			order[i] = &names.data[i];
		}
		for (int i = 0; i < NAMES_LEVELS && separate(t, order, names.count, limit); i++)
			;
		for (size_t i = 0; i < t->rows.count && !t->failed; i++) {
			struct report_row *r = &t->rows.data[i];
			const struct named key = {.full = r->procedure}, *n = NULL;

			if (has_names(r, limit))
				note_shorten(t, r, names.data, names.count);
			if (r->procedure)
				n = bsearch(
					&key, names.data, names.count, sizeof(key), names_by_full);
			if (n && n->level > NAMES_FULL)
				r->shown = n->shown;
		}
	}
	free(names.data);
	free(order);
	return t->failed ? error_nomem(e) : 0;
}
