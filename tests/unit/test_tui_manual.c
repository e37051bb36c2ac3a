/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof(1) lists the keys of -tui as the table has them.  UPDATE=1 writes that part of the page
 * anew. */
#include "../tap.h"

#include <stdlib.h>

#include "base/file.h"
#include "tui/actions.h"

#define BEGIN ".\\\" begin generated\n"
#define END   ".\\\" end generated\n"

static void describe(struct strbuf *out, const struct tui_action *a)
{
	strbuf_puts(out, ".It Cm");
	for (int i = 0; i < TUI_ACTION_KEYS && a->keys[i]; i++) {
		char room[8];
		const char *name = tui_key_name(a->keys[i], room);

		/* What mdoc would take for a delimiter or an escape. */
		strbuf_printf(out, " %s%s", strchr("|.,;:!?()[]-", name[0]) ? "\\&" : "",
			strcmp(name, "\\") == 0  ? "\\e"
			: strcmp(name, "-") == 0 ? "\\-"
						 : name);
	}
	strbuf_printf(out, "\n%c%s.\n", a->help[0] >= 'a' ? a->help[0] - 'a' + 'A' : a->help[0],
		a->help + 1);
}

static void describe_all(struct strbuf *out)
{
	for (const struct tui_action *a = tui_actions; a->name; a++)
		describe(out, a);
}

/* A key means one thing, and every action can be reached and says what it does. */
static void test_table(void)
{
	for (const struct tui_action *a = tui_actions; a->name; a++) {
		ok(a->keys[0] && a->run && a->help && a->help[0], "%s has a key and help", a->name);
		for (int i = 0; i < TUI_ACTION_KEYS && a->keys[i]; i++)
			ok(tui_action_of(NULL, a->keys[i]) == a, "%s: no other has key %d", a->name,
				i);
	}
}

int main(void)
{
	struct strbuf got = {0}, page = {0};
	const char *top = getenv("TOP");
	char path[4096], *text, *begin = NULL, *end = NULL;
	struct error e = {0};

	test_table();
	snprintf(path, sizeof(path), "%s/docs/man/prof.1", top ? top : ".");
	text = file_read(path, 0, NULL, &e);
	if (text && (begin = strstr(text, BEGIN)))
		end = strstr(begin, END);
	ok(end, "%s has a place for the keys", path);
	if (!end) {
		free(text);
		return done();
	}
	begin += strlen(BEGIN);
	describe_all(&got);
	if (getenv("UPDATE") && *getenv("UPDATE")) {
		struct file_out f;

		strbuf_add(&page, text, (size_t)(begin - text));
		strbuf_puts(&page, strbuf_text(&got));
		strbuf_puts(&page, end);
		if (file_create(&f, path, &e) == 0 && fputs(strbuf_text(&page), f.stream) >= 0)
			file_commit(&f, &e);
		ok(!e.code, "the page is written %s", e.message);
		strbuf_fini(&page);
	} else {
		ok(got.length == (size_t)(end - begin) &&
				memcmp(begin, strbuf_text(&got), got.length) == 0,
			"its list is that of the table (UPDATE=1 writes it anew)");
	}
	strbuf_fini(&got);
	free(text);
	return done();
}
