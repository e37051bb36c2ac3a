/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's files say of waits: lines of /proc/net, the format of a tracepoint. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collect/descriptors.h"
#include "collect/wakes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A descriptor of each kind: twice, as names are kept, and once after it was closed. */
static void look_at_own(void)
{
	const struct sockaddr_in local = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fds[8], pair[2], server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct descriptors d;
	size_t count = 0;

	if (pipe(pair) == 0) {
		fds[count++] = pair[0];
		fds[count++] = pair[1];
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
		fds[count++] = pair[0];
		fds[count++] = pair[1];
	}
	if (server >= 0 && bind(server, (const struct sockaddr *)&local, sizeof(local)) == 0 &&
		listen(server, 1) == 0)
		fds[count++] = server;
	fds[count++] = eventfd(0, 0);
	descriptors_init(&d);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < count; i++) {
			const struct descriptor *one = descriptors_find(&d, getpid(), fds[i]);

			if (one && (!one->name || (round < 2) == (one->reason == PAUSE_UNKNOWN)))
				abort();
			if (round == 1)
				close(fds[i]);
		}
		for (int i = 0; i < 3; i++)
			(void)descriptors_find(&d, getpid(), i);
		descriptors_round(&d);
	}
	descriptors_fini(&d);
}

static void ask_kernel(void)
{
	struct wake_format format;
	struct experiment x;

	if (experiment_init(&x, NULL))
		return;
	(void)wakes_init(&format, &x, NULL);
	experiment_fini(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool looked;
	static const char *const kinds[] = {"unix", "tcp", "tcp6", "udp", "udp6"};
	char *text = malloc(size + 1), to[40];
	struct record_sample sample = {.raw = data, .raw_size = size};
	struct wake_format format;
	bool interrupt;
	pid_t tid;

	if (!text)
		return 0;
	if (!looked) {
		look_at_own();
		ask_kernel();
	}
	looked = true;
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
