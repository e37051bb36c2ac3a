/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modelled processor's programs: their paths, and whether they fit the installed Valgrind.
 */
#ifndef SOURCES_MODEL_INSTALL_H
#define SOURCES_MODEL_INSTALL_H

#include <stddef.h>

#include "base/error.h"

struct model_install {
	char *launcher; /* starts the tool */
	char *wrapper;  /* the same by way of the distribution's wrapper script; NULL if there is
			   none */
};

int model_install_find(struct model_install *m, struct error *e);
/* The version of Valgrind that the tool was built with, "3.19.0", or "" where it was not built. */
void model_install_version(char *text, size_t size);
void model_install_fini(struct model_install *m);

#endif
