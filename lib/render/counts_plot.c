/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture_costs.h"
#include "render/counts.h"

int render_counts_plot(const struct counts_report *r, const struct plot_output *to,
	struct strbuf *out, struct error *e)
{
	struct picture p = {.title = NULL};
	int rc = picture_costs(&p, &r, NULL, 1, e);

	if (rc == 0)
		rc = plot_script(&p, to, out, e);
	picture_fini(&p);
	return rc;
}
