/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof-tui(1) lists the keys of -tui as the table has them.  UPDATE=1 writes that part of the page
 * anew. */
#include "../tap.h"

#include "tui/actions.h"

#include "page_list.h"

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
	struct strbuf got = {0};

	test_table();
	describe_all(&got);
	page_list("prof-tui.1", &got);
	strbuf_fini(&got);
	return done();
}
