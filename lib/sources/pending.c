/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for what is not written yet, so that perfex links; each part goes when the real one comes. */
#include "costs/calibrate.h"
#include "sources/source.h"

int pending(void);
int pending(void)
{
	return 0;
}

__attribute__((unused)) static int no(const struct source_options *o, struct error *why)
{
	(void)o;
	return error_set(why, ERR_UNSUPPORTED, "not built");
}

#if !__has_include("sources/pmu.c")
const struct source_ops source_pmu = {.name = "pmu", .native = 1, .probe = no};
#endif
#if !__has_include("sources/model.c")
const struct source_ops source_model = {.name = "model", .probe = no};
#endif
#if !__has_include("costs/calibrate.c")
int calibrate(const struct machine *h, double s, struct calibration *c, struct progress *p, struct error *e)
{
	(void)h;
	(void)s;
	(void)c;
	(void)p;
	return error_set(e, ERR_UNSUPPORTED, "not built");
}
void calibration_print(const struct calibration *c, struct strbuf *o)
{
	(void)c;
	(void)o;
}
#endif
