/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a fuzz target once on each file named: the seeds are tests, too. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct error e;
		size_t length;
		char *data = file_read(argv[i], 0, &length, &e);

		if (!data) {
			fprintf(stderr, "%s\n", e.message);
			return 1;
		}
		LLVMFuzzerTestOneInput((const uint8_t *)data, length);
		free(data);
	}
	return 0;
}
