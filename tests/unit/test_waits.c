/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of waits: sockets in /proc/net, the tracepoint of wakes, system calls. */
#include "../tap.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/blocking_calls.h"
#include "collect/descriptors.h"
#include "collect/missed_wakes.h"
#include "collect/wake_windows.h"
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

#define MS 1000000u

/* Wakes of `seconds` at a rate, recorded outside of gaps; a turn each millisecond. */
static double windows_record(struct wake_windows *w, unsigned a_ms, unsigned seconds, uint64_t cost)
{
	double recorded = 0;

	for (uint64_t t = MS; t <= seconds * 1000u * (uint64_t)MS; t += MS) {
		unsigned wakes = w->off ? 0 : a_ms;
		int on = wake_windows_turn(w, t, wakes, cost);

		recorded += wakes;
		if (on >= 0 && wake_windows_turned(w, t, t, on))
			return -1;
	}
	return recorded;
}

static void test_windows(void)
{
	struct wake_windows w = {0}, hot = {0}, slow = {0}, lasts = {0};
	size_t apart = 0;
	double recorded;

	ok(windows_record(&w, 1, 20, 0) == 20000 && w.gaps.count == 0,
		"as many wakes as may be recorded are");
	ok(!wake_windows_missed(&w, 1, 5 * MS), "none is missed");
	recorded = windows_record(&hot, 100, 20, 0);
	ok(recorded > 20000 && recorded < 40000, "of 2,000,000 in 20 s, some are: %.0f", recorded);
	ok(wake_windows_share(&hot, 20000u * (uint64_t)MS) < 0.03, "in a small part of the run");
	for (size_t i = 2; i < hot.gaps.count; i++) {
		uint64_t a = hot.gaps.data[i - 1].to - hot.gaps.data[i - 1].from,
			 b = hot.gaps.data[i - 2].to - hot.gaps.data[i - 2].from;

		apart += a > b + 10 * MS || b > a + 10 * MS;
	}
	ok(hot.gaps.count > 40 && apart > hot.gaps.count / 2, "in windows at random times");
	ok(wake_windows_missed(&hot, 1, hot.gaps.data[3].from + MS),
		"what ends in a gap is missed");
	ok(!wake_windows_missed(&hot, hot.gaps.data[3].from + MS, hot.gaps.data[3].to + MS),
		"what ends in a window is not");
	windows_record(&slow, 100, 20, 20 * MS);
	ok(slow.gaps.count <= 5, "where it costs 20 ms to turn them, 5 times at most: %zu",
		slow.gaps.count);
	windows_record(&lasts, 100, 600, 0);
	ok(lasts.gaps.count <= 128, "gaps of long ago are forgotten: %zu", lasts.gaps.count);
	ok(wake_windows_share(&lasts, 600000u * (uint64_t)MS) < 0.03, "but their time is not");
	wake_windows_fini(&lasts);
	wake_windows_fini(&w);
	wake_windows_fini(&hot);
	wake_windows_fini(&slow);
}

static void pause_put(struct experiment *x, struct missed_wakes *m, uint32_t obstacle,
	uint32_t waker, uint64_t count, uint64_t time)
{
	struct experiment_pause row = {.key = {.obstacle = obstacle,
					       .thread = 1,
					       .node = 0,
					       .wake = waker ? WAKE_THREAD : WAKE_UNSEEN,
					       .waker = waker},
		.count = count,
		.time = time,
		.longest = time / count};

	long at = experiment_row(x, EXPERIMENT_PAUSES, &row);

	if (m && at >= 0)
		missed_add(m, (size_t)at, &row);
}

/* Time of a row of the pipe, or of the processor. */
static uint64_t paused(
	const struct experiment *x, uint32_t obstacle, uint32_t waker, uint64_t *count)
{
	for (size_t i = 0; i < x->pauses.count; i++) {
		const struct experiment_pause *p = experiment_pause_at(x, i);

		if (p->key.obstacle == obstacle && p->key.waker == waker) {
			*count = p->count;
			return p->time;
		}
	}
	return *count = 0;
}

static void test_missed(void)
{
	struct experiment x;
	struct missed_wakes m = {0};
	uint64_t count, sum = 0;
	long pipe_row, processor;

	experiment_init(&x, NULL);
	pipe_row = experiment_obstacle(&x, PAUSE_PIPE, "read", "pipe 1", 0, 0);
	processor = experiment_obstacle(&x, PAUSE_PROCESSOR, "", "", 0, 0);
	/* of 40 seen: 30 by thread 2, 10 by thread 3; then a quarter of the whole for a processor
	 */
	pause_put(&x, NULL, (uint32_t)pipe_row, 2, 30, 6000);
	pause_put(&x, NULL, (uint32_t)pipe_row, 3, 10, 3000);
	pause_put(&x, NULL, (uint32_t)processor, 0, 40, 3000);
	pause_put(&x, &m, (uint32_t)pipe_row, 0, 400, 120000);
	is_int(missed_divide(&m, &x, (uint32_t)processor), 0, "missed wakes");
	is_int((long long)paused(&x, (uint32_t)pipe_row, 2, &count), 6000 + 60000,
		"the first waker has its part of the time");
	is_int((long long)count, 330, "and of the pauses");
	is_int((long long)paused(&x, (uint32_t)pipe_row, 3, &count), 3000 + 30000, "the second");
	is_int((long long)count, 110, "likewise");
	is_int((long long)paused(&x, (uint32_t)processor, 0, &count), 3000 + 30000,
		"and the processor");
	for (size_t i = 0; i < x.pauses.count; i++)
		sum += experiment_pause_at(&x, i)->time;
	ok(sum >= 132000 && sum <= 132001, "in all it is what was measured");
	missed_fini(&m);
	experiment_fini(&x);

	experiment_init(&x, NULL);
	m = (struct missed_wakes){0};
	pipe_row = experiment_obstacle(&x, PAUSE_PIPE, "read", "pipe 1", 0, 0);
	pause_put(&x, NULL, (uint32_t)pipe_row, 2, 3, 600);
	pause_put(&x, &m, (uint32_t)pipe_row, 0, 400, 120000);
	missed_divide(&m, &x, 77);
	is_int((long long)paused(&x, (uint32_t)pipe_row, 0, &count), 120000,
		"three pauses do not say how others ended");
	missed_fini(&m);
	experiment_fini(&x);
}

int main(void)
{
	test_sockets();
	test_descriptors();
	test_wakes();
	test_windows();
	test_missed();
	test_calls();
	return done();
}
