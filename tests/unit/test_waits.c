/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of waits: sockets in /proc/net, the tracepoint of wakes, system calls. */
#include "../tap.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/blocking_calls.h"
#include "collect/descriptors.h"
#include "collect/wakes.h"

#define REST " 00000000:00000000 00:00000000 00000000  1000        0 "

static const char *parsed(const char *kind, const char *line)
{
	static char text[128];

	return descriptors_parse(kind, line, 4711, text, sizeof(text)) == 0 ? text : "none";
}

static void test_sockets(void)
{
	is_str(parsed("tcp", "   1: 0100007F:1F90 0200007F:0050 01" REST "4711 1 0 20"),
		"tcp 127.0.0.1:8080 to 127.0.0.2:80", "a connection");
	is_str(parsed("tcp", "   1: 00000000:0016 00000000:0000 0A" REST "4711 1 0 20"),
		"tcp 0.0.0.0:22", "a socket that listens");
	is_str(parsed("tcp6", "0: 00000000000000000000000001000000:0016 "
			      "00000000000000000000000000000000:0000 0A" REST "4711"),
		"tcp [::1]:22", "of IPv6");
	is_str(parsed("tcp", "   1: 0100007F:1F90 0200007F:0050 01" REST "4712 1 0 20"), "none",
		"another's");
	is_str(parsed("tcp", "  sl  local_address rem_address   st tx_queue"), "none", "a heading");
	is_str(parsed("tcp", "   1: 0100:1F90 0200007F:0050 01" REST "4711"), "none",
		"half an address");
	is_str(parsed("unix", "0000: 00000002 00000000 00010000 0001 01 4711 /run/a b\n"),
		"unix /run/a b", "a path");
	is_str(parsed("unix", "0000: 00000002 00000000 00010000 0001 01 4711\n"), "unix",
		"without one");
}

static void test_descriptors(void)
{
	struct descriptors d;
	const struct descriptor *found;
	int ends[2], pair[2];

	descriptors_init(&d);
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
		ok(false, "a pipe and a socket");
		return;
	}
	found = descriptors_find(&d, getpid(), ends[0]);
	ok(found && found->reason == PAUSE_PIPE, "a pipe");
	is_str(found ? found->name : "", "pipe 1", "is counted");
	found = descriptors_find(&d, getpid(), ends[1]);
	is_str(found ? found->name : "", "pipe 1", "its other end is the same");
	found = descriptors_find(&d, getpid(), pair[0]);
	ok(found && found->reason == PAUSE_SOCKET, "a socket");
	is_str(found ? found->name : "", "unix socket 1", "without a path has a number");
	close(ends[0]);
	found = descriptors_find(&d, getpid(), ends[0]);
	is_str(found ? found->name : "", "pipe 1", "in one round, it is looked at once");
	descriptors_round(&d);
	found = descriptors_find(&d, getpid(), ends[0]);
	ok(found && found->reason == PAUSE_UNKNOWN, "in the next, it is closed");
	descriptors_fini(&d);
}

static void test_wakes(void)
{
	static const char text[] =
		"name: sched_waking\nID: 321\nformat:\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";
	const uint8_t raw[12] = {0, 0, 0x08, 0, 0, 0, 0, 0, 7, 1};
	struct record_sample sample = {.raw = raw, .raw_size = sizeof(raw)};
	struct wake_format f = {0};
	bool interrupt = false;
	pid_t tid = 0;

	ok(wakes_parse_format(&f, text) == 0 && f.tracepoint == 321, "the format of a tracepoint");
	ok(wake_parse(&f, &sample, &tid, &interrupt) == 0 && tid == 263 && interrupt,
		"who is let go on, and that it is by an interrupt");
	sample.raw_size = 11;
	ok(wake_parse(&f, &sample, &tid, &interrupt) < 0, "a sample that is too short");
	sample.raw = NULL;
	ok(wake_parse(&f, &sample, &tid, &interrupt) < 0, "a sample without");
	ok(wakes_parse_format(&f, "ID: 3\n") < 0, "a format without its fields");
}

static void test_calls(void)
{
	const struct blocking_call *call = blocking_call_find(SYS_futex);

	ok(call && call->reason == PAUSE_FUTEX && call->object == BLOCKING_FUTEX, "futex");
	call = blocking_call_named("read", 4);
	ok(call && call->number == SYS_read, "read, by name");
	ok(!blocking_call_find(-1) && !blocking_call_named("rea", 3), "others are not known");
}

int main(void)
{
	test_sockets();
	test_descriptors();
	test_wakes();
	test_calls();
	return done();
}
