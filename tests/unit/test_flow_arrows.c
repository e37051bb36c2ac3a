/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The margin of jumps beside a listing. */
#include <stdio.h>
#include <stdlib.h>

#include "../tap.h"
#include "base/strbuf.h"
#include "flow/arrows.h"

static void margin_is(const char *name, const struct flow_arrow *arrows, size_t count,
	uint32_t rows, const char *want)
{
	struct flow_margin m;
	struct strbuf out = {0};

	if (flow_margin_make(&m, arrows, count, rows)) {
		ok(false, "%s", name);
		return;
	}
	for (uint32_t r = 0; r < rows; r++) {
		strbuf_add(&out, m.cells + (size_t)r * m.width, m.width);
		strbuf_putc(&out, '\n');
	}
	is_str(strbuf_text(&out), want, "%s", name);
	strbuf_fini(&out);
	flow_margin_fini(&m);
}

static void test_shapes(void)
{
	static const struct flow_arrow back[] = {{2, 0}}, forward[] = {{0, 2}}, self[] = {{1, 1}};
	static const struct flow_arrow nested[] = {{4, 0}, {3, 1}};
	static const struct flow_arrow both[] = {{0, 2}, {4, 2}};
	static const struct flow_arrow apart[] = {{1, 0}, {3, 2}};

	margin_is("backward", back, 1, 3, ",>\n| \n`-\n");
	margin_is("forward", forward, 1, 3, ",-\n| \n`>\n");
	margin_is("to itself", self, 1, 3, "  \n->\n  \n");
	margin_is("one in another: the short one next to the text", nested, 2, 5,
		",->\n|,>\n|| \n|`-\n`--\n");
	margin_is("from both sides to one row share a lane", both, 2, 5, ",-\n| \n+>\n| \n`-\n");
	margin_is("apart: one lane", apart, 2, 4, ",>\n`-\n,>\n`-\n");
	margin_is("none", NULL, 0, 2, "\n\n");
}

static void test_many(void)
{
	struct flow_arrow arrows[20];
	struct flow_margin m;
	char between[FLOW_LANES_MAX + 2];

	for (uint32_t i = 0; i < 20; i++)
		arrows[i] = (struct flow_arrow){100 - i, i};
	ok(flow_margin_make(&m, arrows, 20, 101) == 0, "twenty in each other");
	is_int(m.width, FLOW_LANES_MAX + 1, "no more lanes than there may be");
	is_int(m.hidden, 20 - FLOW_LANES_MAX, "the others are counted");
	flow_margin_between(&m, 50, between);
	is_str(between, "|||||||| ", "all pass between two rows in the middle");
	flow_margin_between(&m, 100, between);
	is_str(between, "         ", "none behind the last");
	flow_margin_fini(&m);
}

int main(void)
{
	test_shapes();
	test_many();
	return done();
}
