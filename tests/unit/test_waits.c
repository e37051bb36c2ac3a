/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of waits: sockets in /proc/net, the tracepoint of wakes, system calls. */
#include "../tap.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/blocking_calls.h"
#include "collect/descriptors.h"
#include "collect/missed_wakes.h"
#include "collect/unseen.h"
#include "collect/wait_windows.h"
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
static double windows_record(struct wait_windows *w, unsigned a_ms, unsigned seconds, uint64_t cost)
{
	double recorded = 0;

	for (uint64_t t = MS; t <= seconds * 1000u * (uint64_t)MS; t += MS) {
		unsigned wakes = w->off ? 0 : a_ms;
		int on = wait_windows_turn(w, t, wakes, cost);

		recorded += wakes;
		if (on >= 0 && wait_windows_turned(w, t, t, on))
			return -1;
	}
	return recorded;
}

static void test_windows(void)
{
	struct wait_windows w = {0}, hot = {0}, slow = {0}, lasts = {0};
	size_t apart = 0;
	double recorded;

	ok(windows_record(&w, 1, 20, 0) == 20000 && w.gaps.count == 0,
		"as many as may be recorded are");
	ok(!wait_windows_missed(&w, 1, 5 * MS), "none is missed");
	recorded = windows_record(&hot, 100, 20, 0);
	ok(recorded > 20000 && recorded < 40000, "of 2,000,000 in 20 s, some are: %.0f", recorded);
	ok(wait_windows_share(&hot, 20000u * (uint64_t)MS) < 0.04, "in a small part of the run");
	is_int((long long)wait_windows_gone(&hot, 0, hot.gaps.data[0].to + 1),
		(long long)(hot.gaps.data[0].to - hot.gaps.data[0].from), "the first gap");
	is_int((long long)wait_windows_gone(
		       &hot, hot.gaps.data[1].from + 5, hot.gaps.data[1].from + 12),
		7, "a part of another");
	for (size_t i = 2; i < hot.gaps.count; i++) {
		uint64_t a = hot.gaps.data[i - 1].to - hot.gaps.data[i - 1].from,
			 b = hot.gaps.data[i - 2].to - hot.gaps.data[i - 2].from;

		apart += a > b + 10 * MS || b > a + 10 * MS;
	}
	ok(hot.gaps.count > 40 && apart > hot.gaps.count / 2, "in windows at random times");
	ok(wait_windows_missed(&hot, 1, hot.gaps.data[3].from + MS),
		"what ends in a gap is missed");
	ok(!wait_windows_missed(&hot, hot.gaps.data[3].from + MS, hot.gaps.data[3].to + MS),
		"what ends in a window is not");
	windows_record(&slow, 100, 20, 20 * MS);
	ok(slow.gaps.count <= 5, "where it costs 20 ms to turn them, 5 times at most: %zu",
		slow.gaps.count);
	windows_record(&lasts, 100, 600, 0);
	ok(lasts.gaps.count <= 128, "gaps of long ago are forgotten: %zu", lasts.gaps.count);
	ok(wait_windows_share(&lasts, 600000u * (uint64_t)MS) < 0.04, "but their time is not");
	wait_windows_fini(&lasts);
	wait_windows_fini(&w);
	wait_windows_fini(&hot);
	wait_windows_fini(&slow);
}

/* A thread that was recorded for 10 ms, waited for a pipe for 6 of these in 40 pauses, and for a
 * lock for 2 in 10. */
static void unseen_begin(struct unseen *u)
{
	*u = (struct unseen){.then = {.time = 100 * MS, .used = 50 * MS, .turns = 500}};
	unseen_known(u, 90 * MS, 106 * MS);
	unseen_known(u, 107 * MS, 109 * MS);
	for (unsigned i = 0; i < 50; i++)
		unseen_back(u, 101 * MS);
	unseen_back(u, 99 * MS);
	unseen_remember(u, &(struct unseen_pause){.row = 1, .time = 6 * MS, .count = 40});
	unseen_remember(u, &(struct unseen_pause){.row = 2, .time = 2 * MS, .count = 10});
}

static void test_unseen(void)
{
	const struct unseen_counts same = {110 * MS, 52 * MS, 550},
				   later = {200 * MS, 70 * MS, 1550};
	struct unseen_pause parts[UNSEEN_LATEST];
	struct unseen_usual all = {0};
	struct unseen_counts own = {0};
	struct unseen u;

	ok(unseen_parse("1234 77 9\n", &own) && own.used == 1234 && own.turns == 9, "schedstat");
	ok(!unseen_parse("0", &own), "a kernel without");
	ok(unseen_read(getpid(), &own) && own.time, "our own");
	unseen_begin(&u);
	ok(unseen_is_none(&u, &same, true), "50 turns were recorded, and no more were made");
	ok(!unseen_is_none(&u, &later, true), "1,000 more are unseen");
	ok(!unseen_is_none(&u, &(struct unseen_counts){200 * MS, 50 * MS, 550}, false),
		"nor is nothing unseen if it waited, and it is not known where");
	unseen_add(&u, &all, &later, 90 * MS);
	is_int(u.time, 72 * MS, "of 100 ms it was 20 on a processor, and 8 were recorded");
	is_int(u.count, 1000, "in as many pauses");
	is_int((long long)unseen_divide(&u, parts), 2, "they are as the recorded ones");
	is_int((long long)parts[0].time, 54 * MS, "three quarters of the time");
	is_int((long long)parts[0].count, 800, "four fifths of the pauses");
	is_int((long long)parts[0].longest, 6 * MS, "none is longer than those recorded");
	is_int((long long)(parts[0].time + parts[1].time), 72 * MS, "nothing is lost");
	is_int((long long)(parts[0].count + parts[1].count), 1000, "of pauses, too");
	unseen_guess(&u, &all, 45 * MS);
	is_int(u.time, 36 * MS, "where the kernel could not be asked, it is as in the gap before");
	is_int((long long)u.known, 36 * MS, "which counts as known");
	u.age = 4;
	ok(unseen_is_stale(&u) && (u.time = MS) && unseen_divide(&u, parts) == 0,
		"those of long ago say nothing");
	unseen_none(&u, &later, 90 * MS);
	u.time = 0;
	unseen_guess(&u, &all, 45 * MS);
	is_int(u.time, 0, "a thread that does not wait is not assumed to do so at its end");
	u.time = MS;
	unseen_glance(&u, 5, 7);
	ok(unseen_divide(&u, parts) == 1 && parts[0].row == UNSEEN_NO_ROW && parts[0].obstacle == 5,
		"then, what it is seen to wait for does");
	unseen_fini(&u);
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
	test_unseen();
	test_missed();
	test_calls();
	return done();
}
