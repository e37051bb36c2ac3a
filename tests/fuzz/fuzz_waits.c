/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's files say of waits: lines of /proc/net, the format of a tracepoint. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/descriptors.h"
#include "collect/wakes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = {"unix", "tcp", "tcp6", "udp", "udp6"};
	char *text = malloc(size + 1), to[40];
	struct record_sample sample = {.raw = data, .raw_size = size};
	struct wake_format format;
	bool interrupt;
	pid_t tid;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (descriptors_parse(kinds[i], text, 4711, to, sizeof(to)) == 0 &&
			strlen(to) >= sizeof(to))
			abort();
	if (wakes_parse_format(&format, text) == 0)
		wake_parse(&format, &sample, &tid, &interrupt);
	free(text);
	return 0;
}
