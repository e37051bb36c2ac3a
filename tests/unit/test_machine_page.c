/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex-machine(5) explains every keyword, has the limits and defaults that the table has
 * (UPDATE=1 writes that part of the page anew), and its example is a file that can be read.
 */
#include "../tap.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "machine/private.h"

#include "machine_print.h"
#include "page_list.h"

static void frequency(struct strbuf *out, uint64_t hz)
{
	static const char *const units[] = {"Hz", "kHz", "MHz", "GHz"};
	int unit = 0;

	for (; unit < 3 && hz % 1000 == 0; unit++)
		hz /= 1000;
	strbuf_printf(out, "%llu %s", (unsigned long long)hz, units[unit]);
}

static void size(struct strbuf *out, uint64_t bytes)
{
	static const char *const units[] = {"", "K", "M", "G"};
	int unit = 0;

	for (; unit < 3 && bytes % 1024 == 0; unit++)
		bytes /= 1024;
	strbuf_printf(out, "%llu%s", (unsigned long long)bytes, units[unit]);
}

static void prefetcher_limits(struct strbuf *out, uint64_t parts)
{
	static const struct {
		unsigned most;
		const char *what;
	} part[] = {{PREFETCH_ENTRIES_MAX, "entries"}, {PREFETCH_AHEAD_MAX, "ahead"},
		{PREFETCH_LINES_MAX, "lines"}};
	const char *comma = "";

	for (int i = 0; i < 3; i++) {
		if (!(parts >> i & 1))
			continue;
		strbuf_printf(out, "%s1 to %u %s", comma, part[i].most, part[i].what);
		comma = ", ";
	}
}

static void limits(struct strbuf *out, const struct field *f)
{
	unsigned long long low = f->low, high = f->high;

	switch (f->kind) {
	case FIELD_TEXT:
		strbuf_printf(out, "up to %llu bytes", high - 1);
		break;
	case FIELD_WORD:
		strbuf_printf(out, "up to %llu characters", high - 1);
		break;
	case FIELD_CHOICE:
		if (f->choices[3]) {
			strbuf_puts(out, "a policy");
			break;
		}
		for (int i = 0; f->choices[i]; i++)
			strbuf_printf(out, "%s%s", i ? ", " : "", f->choices[i]);
		break;
	case FIELD_HZ:
		frequency(out, low);
		strbuf_puts(out, " to ");
		frequency(out, high);
		break;
	case FIELD_SIZE:
		size(out, low);
		strbuf_puts(out, " to ");
		size(out, high);
		break;
	case FIELD_COUNT:
	case FIELD_LOG2:
		strbuf_printf(out, "%llu to %llu", low, high);
		break;
	case FIELD_CYCLES:
		strbuf_printf(out, "%llu to %llu cycles", low, high);
		break;
	case FIELD_CACHE:
		strbuf_printf(out, "1G, lines 16 to 4096, %llu cycles", high);
		break;
	case FIELD_TLB:
	case FIELD_LARGE:
		strbuf_puts(out, "65536 entries");
		if (f->latency)
			strbuf_printf(out, ", %llu cycles", high);
		break;
	case FIELD_PREFETCH:
		prefetcher_limits(out, low);
		break;
	}
}

/* What text, a printed machine, says of key. */
static void value_of(struct strbuf *out, const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line && *line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = line + length;

		if (strncmp(line, key, length) || *at != ' ')
			continue;
		at += strspn(at, " ");
		strbuf_add(out, at, strcspn(at, "\n"));
		return;
	}
	strbuf_puts(out, "empty");
}

static void table(struct strbuf *out)
{
	struct strbuf defaults = {0};
	struct machine m;

	machine_defaults(&m);
	machine_print(&m, &defaults);
	strbuf_puts(out, ".Bl -tag -compact -width fp-divide-latency\n");
	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];

		strbuf_printf(out, ".It Cm %s\n", f->key);
		limits(out, f);
		strbuf_puts(out, "; default: ");
		value_of(out, strbuf_text(&defaults), f->key);
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, ".El\n");
	strbuf_fini(&defaults);
}

/* Whether key is one of the words behind .Cm in some .It line. */
static bool explained(const char *page, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = page; (at = strstr(at, "\n.It Cm "));) {
		size_t line = strcspn(at + 1, "\n");
		const char *end = at + 1 + line;

		for (const char *word = at + 8; word < end; word += strcspn(word, " \n") + 1)
			if (strncmp(word, key, length) == 0 &&
				(word[length] == ' ' || word[length] == '\n'))
				return true;
		at = end;
	}
	return false;
}

static void example(const char *page)
{
	static const char literal[] = ".Bd -literal -offset indent\n";
	const char *at = strstr(page, ".Sh EXAMPLES"), *end;
	struct machine m;
	struct error e = {0};

	at = at ? strstr(at, literal) : NULL;
	end = at ? strstr(at, ".Ed\n") : NULL;
	if (!ok(at && end, "the page has an example"))
		return;
	at += strlen(literal);
	is_int(machine_parse(at, (size_t)(end - at), "example", &m, &e), 0, "which is a file: %s",
		e.message);
	ok(strcmp(m.name, "half-zen4") == 0 && m.model.l2.size == 512 << 10, "of half a Zen 4");
}

int main(void)
{
	struct strbuf want = {0};
	char *page = page_read("perfex-machine.5");

	if (!page)
		return done();
	table(&want);
	page_list("perfex-machine.5", &want);
	for (size_t i = 0; i < machine_field_count; i++) {
		char *rest = strdup(page);
		char *cut = rest ? strstr(rest, PAGE_BEGIN) : NULL;

		if (cut)
			*cut = '\0';
		ok(rest && explained(rest, machine_fields[i].key), "%s is explained",
			machine_fields[i].key);
		free(rest);
	}
	example(page);
	free(page);
	strbuf_fini(&want);
	return done();
}
