/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/costs: calibration, with hardly any time, so that figures are bad but must still be a cost
 * table.  In real time: costs are measured on this processor. */
#include "../tap.h"

#include <stdlib.h>

#include "build_data.h"
#include "costs/costs_calibrate.h"
#include "kernels/kernels.h"

/* Every line once, and then again the first. */
static void chains(void)
{
	static struct node lines[1024];
	struct layout l = {(char *)lines, 1024, sizeof(lines[0])};
	uint64_t random = 1;
	void *first = kernel_chain_build(&l, 3, &random), *at = first;
	size_t seen = 0, steps = 0, in_order = 0;

	do {
		void *next = kernel_chase(at, 8);

		for (int i = 0; i < 8; i++) {
			void *one = *(void **)at;

			in_order += (char *)one - (char *)at == sizeof(lines[0]);
			at = one;
			seen++;
		}
		if (at != next)
			break;
		steps += 8;
	} while (at != first);
	is_int(seen, 1024, "a chain goes through every line");
	is_int(steps, 1024, "the chase as well");
	ok(in_order < 100, "not in order (%zu neighbours)", in_order);
	is_int((long long)kernel_sweep(&l, 2048 + 16, 1016), 8, "a sweep goes round");
}

static void calibration(void)
{
	static struct calibration c;
	static struct cost_table back;
	struct machine host;
	struct strbuf text = {0};
	struct error e = {0};
	int measured = 0, disorder = 0, lost = 0;

	build_data();
	if (machine_host("", &host, &e)) {
		skip(e.message);
		return;
	}
	if (!ok(calibrate(&host, 0.7, &c, NULL, &e) == 0, "calibrates %s", e.message))
		return;
	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct cost *cost = &c.table.cost[i];

		if (!cost->known)
			continue;
		disorder += !(cost->minimum >= 0 && cost->minimum <= cost->typical &&
			      cost->typical <= cost->maximum);
		if (c.row[i].how) {
			measured++;
			disorder += c.row[i].number != i || !(c.row[i].spread >= 0);
		}
	}
	ok(measured >= 18, "%d rows are measured", measured);
	is_int(disorder, 0, "minimum <= typical <= maximum in every row");
	ok(c.table.clock_hz > 1e8 && c.table.clock_hz < 1e10, "a clock that is one: %g Hz",
		c.table.clock_hz);
	ok(strlen(c.table.date) == 10 && c.table.method[0] && c.table.processor[0],
		"date, method, processor");
	is_str(c.table.name, host.costs, "is called as the family's table");
	calibrate_print(&c, &text);
	is_int(costs_parse(strbuf_text(&text), text.length, "calibration", &back, &e), 0,
		"reads back %s", e.message);
	for (int i = 0; i < EVENT_LIMIT; i++)
		lost += back.cost[i].known != c.table.cost[i].known ||
			back.cost[i].typical != c.table.cost[i].typical;
	is_int(lost, 0, "with every row");
	ok(strstr(strbuf_text(&text), "# spread") != NULL, "each with its spread");
	strbuf_fini(&text);
}

int main(void)
{
	chains();
	calibration();
	return done();
}
