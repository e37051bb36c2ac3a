/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random keys, clicks, sizes and answers that come late, against a program that never changes: what
 * must hold holds after each, and nothing is lost.  ACTIONS=n, SEED=n; `make fuzz-tui` does it
 * under sanitizers.
 */
#include "../chance.h"
#include "../tap.h"

#include "build_data.h"
#include "tui_fake.h"

static int any_key(void)
{
	static const int others[] = {'\t', 0x3b1, 0x4e2d, 0x1f600, 1, 7, 27, 127, 'x', '%', '(',
		'~', TUI_KEY_DELETE, TUI_KEY_NONE, TUI_KEY_END_OF_KEYS - 1};
	size_t count = 0;
	const struct tui_action *a;

	if (chance_below(8) == 0)
		return others[chance_below(sizeof(others) / sizeof(*others))];
	while (tui_actions[count].name)
		count++;
	a = &tui_actions[chance_below((uint32_t)count)];
	/* Whoever leaves sees no more. */
	return strcmp(a->name, "quit") == 0 ? 'j'
	       : a->keys[chance_below(2)]   ? a->keys[chance_below(2)]
					    : a->keys[0];
}

/* The first thing that does not hold; NULL. */
static const char *wrong(const struct tui *t)
{
	const struct tui_page *p = tui_top(t);
	size_t count = tui_page_count(p);
	const struct tui_screen *s = &t->screen;

	if (count ? p->cursor >= count : p->cursor)
		return "the cursor is outside";
	if (p->top > p->cursor || p->cursor - p->top >= (size_t)tui_body_rows(t))
		return "the cursor is not to be seen";
	if (t->pages.count > TUI_PAGES_MAX)
		return "too many pages";
	for (size_t i = 0; i < (size_t)s->rows * (size_t)s->columns; i++) {
		uint32_t c = s->cells[i].character;

		if (s->cells[i].style >= TUI_STYLES || (c && (c < ' ' || c == 0x7f)) ||
			(!s->unicode && c >= 0x7f))
			return "a cell that no terminal should get";
	}
	if (s->at_row >= s->rows || s->at_column >= s->columns)
		return "the terminal's cursor is outside";
	return NULL;
}

static void one_action(struct tui *t, struct tui_fake *f)
{
	static const char *const texts[] = {
		"sort", "e", "\xce\xb1", "", "zzz", "there", "a/b", "y"};
	const char *text;

	switch (chance_below(24)) {
	case 0:
		tui_resize(t, (int)chance_below(50), (int)chance_below(140));
		break;
	case 1:
		tui_click(t, (int)chance_below(50), (int)chance_below(140), chance_below(2));
		break;
	case 2:
		tui_wheel(t, chance_below(2) ? 3 : -3);
		break;
	case 3:
		f->held = chance_below(3) == 0;
		break;
	case 4:
		f->failing = chance_below(4) ? 0 : 1 + chance_below(3);
		break;
	case 5:
		for (text = texts[chance_below(8)]; *text && t->prompt.label; text++)
			tui_key(t, (unsigned char)*text);
		tui_key(t, TUI_KEY_ENTER);
		break;
	default:
		tui_key(t, any_key());
	}
}

int main(void)
{
	const char *actions = getenv("ACTIONS"), *seed = getenv("SEED"), *problem = NULL;
	long count = actions ? atol(actions) : 10000, done_actions = 0;
	struct tui_fake f;
	struct tui_source source;
	struct tui t;

	build_data();
	chance_state ^= seed ? strtoull(seed, NULL, 0) : 0;
	tui_fake_init(&f, false);
	source = tui_fake_source(&f);
	ok(tui_init(&t, &source, 0, 0, 24, 80, true) == 0, "begins");
	while (done_actions < count && !problem) {
		one_action(&t, &f);
		done_actions++;
		if (t.quit) {
			tui_fini(&t);
			if (tui_init(&t, &source, 0, 0, 24, 80, true))
				break;
		}
		if (chance_below(3))
			tui_work(&t, chance_below(2) ? UINT64_MAX : 1);
		tui_draw(&t);
		problem = wrong(&t);
	}
	ok(!problem, "%ld actions: %s", done_actions, problem ? problem : "all is well");
	f.held = false;
	tui_fake_run(&t);
	tui_fini(&t);
	tui_fake_fini(&f);
	is_int(f.made, f.released, "all that was made was given back");
	return done();
}
