/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures of samples. One that has another inside of it is one: its places are on both sides. */
#include "../tap.h"
#include "explain/code.h"
#include "prof_fake.h"

/* outer: 0x1000 to 0x1300; inner: 0x1100 to 0x1200. */
static int nested_symbol(void *names, uint32_t image, uint64_t address, struct image_symbol *symbol)
{
	bool inner = address >= 0x1100 && address < 0x1200;

	(void)names;
	if (image != 1 || address < 0x1000 || address >= 0x1300)
		return -1;
	*symbol = (struct image_symbol){.address = inner ? 0x1100 : 0x1000,
		.size = inner ? 0x100 : 0x300,
		.name = inner ? "inner" : "outer",
		.demangled = inner ? "inner" : "outer"};
	return 0;
}

int main(void)
{
	struct prof_names_ops nested = fake_ops;
	struct explain_procedures p;
	struct fake_names names = {0};
	struct experiment x;
	const struct prof_input input = {.experiment = &x, .file = "x"};
	const struct prof_request request = {.inputs = &input, .count = 1};
	struct prof_data d;

	nested.symbol = nested_symbol;
	nested.inlines = profile_no_inlines;
	experiment_init(&x, NULL);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1000, METRIC_CLOCK, LABEL_MEASURED);
	fake_samples(&x, 0, 0, 0, 2, PATH(0x1010));
	fake_samples(&x, 0, 0, 0, 4, PATH(0x1110));
	fake_samples(&x, 0, 0, 0, 3, PATH(0x1210));
	ok(profile_data_init(&d, &request, NULL) == 0, "samples on both sides of a function");
	d.names = (struct prof_names){&nested, &names};
	ok(profile_data_name(&d, false, NULL) == 0 && explain_procedures_init(&p, &d) == 0,
		"its procedures");
	is_int(p.list.count, 2, "... are two");
	is_int(p.list.data[0].begin, 0x1000, "... the outer one, with most samples");
	is_int(p.list.data[0].value, 5, "... of both sides");
	is_int(p.list.data[1].begin, 0x1100, "... and the inner one");
	is_int(p.list.data[1].value, 4, "... with its own");
	explain_procedures_fini(&p);
	profile_data_fini(&d);
	experiment_fini(&x);
	return done();
}
