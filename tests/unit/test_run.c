/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run under made-up sources: what goes wrong on the way, and that the command never suffers. */
#include "../tap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_sources.h"
#include "sources/sources_run.h"

static struct event_spec specs[2];
static struct plan_entry entries[2];
static const struct plan plan = {.count = 2, .entries = entries, .passes = 1};
static struct source_options options = {.user = true};
static struct run_result result;
static struct error e;

static void fresh(void)
{
	fake_pmu = fake_model = fake_os = (struct fake){.works = true};
	entries[0] = (struct plan_entry){.source = &source_pmu};
	entries[1] = (struct plan_entry){.source = &source_os};
	options.per_thread = false;
	memset(&e, 0, sizeof(e));
}

static int run_words(char *const *argv)
{
	const struct run_request request = {.argv = argv};

	return run_pass(&request, &plan, 0, &options, specs, &result, &e);
}

static int run_script(const char *script)
{
	char *argv[] = {"sh", "-c", (char *)script, NULL};

	return run_words(argv);
}

static void test_counts(void)
{
	fresh();
	is_int(run_script("exit 3"), 0, "a run: %s", e.message);
	is_int(result.exit_status, 3, "the command's status");
	is_int(result.reading.counts[0].quantity.value, 1000, "the first session's count");
	is_int(result.reading.counts[1].quantity.value, 1000, "the second session's");
	ok(fake_pmu.enabled == 1 && fake_pmu.finished == 1 && fake_pmu.closed == 1,
		"begun, finished and closed, each once");
	ok(fake_os.had_usage, "rusage is handed on");
	run_result_fini(&result);
	entries[1].pass = 1;
	is_int(run_script("exit 0"), 0, "a run of one pass of two");
	is_int(fake_os.opened, 1, "opens nothing of the other");
	is_int(result.reading.counts[1].quantity.label, LABEL_NONE, "nor has counts of it");
	run_result_fini(&result);
}

/* The row of the first thread before an exec by another, the row after it, and a thread. */
static void add_rows(struct reading *r)
{
	for (int i = 0; i < 3; i++) {
		struct thread_reading *t = reading_add_thread(r);

		t->pid = 7;
		t->tid = i < 2 ? 7 : 8;
		t->counts[0].quantity = quantity_exact(100 * (i + 1), LABEL_MEASURED);
	}
}

static void test_rows(void)
{
	const struct thread_reading *t;
	double sum[2] = {0, 0};

	fresh();
	fake_pmu.fill = fake_os.fill = add_rows;
	is_int(run_script("exit 0"), 0, "rows of two sessions");
	is_int(result.reading.thread_count, 3, "numbers that come twice are two rows");
	t = result.reading.threads;
	for (size_t i = 0; i < result.reading.thread_count; i++)
		for (int k = 0; k < 2; k++)
			sum[k] += t[i].counts[k].quantity.value;
	is_int(sum[0], 600, "nothing of the first session is lost");
	is_int(sum[1], 600, "nor of the second");
	ok(t[0].counts[0].quantity.value == t[0].counts[1].quantity.value &&
			t[1].counts[0].quantity.value == t[1].counts[1].quantity.value,
		"and each row is one thread's");
	run_result_fini(&result);
}

static int refuse(pid_t pid)
{
	(void)pid;
	return -1;
}

static void test_attach_fails(void)
{
	char path[] = "/tmp/perfex-test-XXXXXX", script[64];
	int fd = mkstemp(path);

	fresh();
	close(fd);
	unlink(path);
	fake_pmu.on_attach = refuse;
	snprintf(script, sizeof(script), "touch %s", path);
	is_int(run_script(script), -1, "a source that cannot attach: %s", e.message);
	ok(access(path, F_OK) != 0, "the command was not run");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "and no child is left");
}

/* A source breaks while the command runs: the command runs to its end all the same, and we wait. */
static void test_tick_fails(void)
{
	char path[] = "/tmp/perfex-test-XXXXXX", script[64];
	int fd = mkstemp(path);

	fresh();
	close(fd);
	unlink(path);
	fake_pmu.interval = 0.01;
	fake_pmu.tick_fails = 1;
	snprintf(script, sizeof(script), "sleep 0.2; touch %s", path);
	is_int(run_script(script), -1, "a source that breaks: %s", e.message);
	ok(access(path, F_OK) == 0, "the command has come to its end");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "and was waited for");
	unlink(path);
}

static int terminate(pid_t pid)
{
	return kill(pid, SIGTERM);
}

/* A signal between fork and exec; a traced child stops for it. */
static void test_killed_at_the_gate(void)
{
	for (int traced = 0; traced < 2; traced++) {
		fresh();
		options.per_thread = traced;
		fake_pmu.on_attach = terminate;
		alarm(300);
		is_int(run_script("exit 0"), -1, "killed at the gate%s: %s",
			traced ? ", traced" : "", e.message);
		alarm(0);
		ok(waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD, "no child is left");
	}
}

static void test_traced(void)
{
	fresh();
	options.per_thread = true;
	is_int(run_script("exit 5"), 0, "traced: %s", e.message);
	is_int(result.exit_status, 5, "the command's status");
	run_result_fini(&result);
	is_int(run_script("kill -KILL $$"), 0, "traced and killed");
	is_int(result.exit_status, 128 + SIGKILL, "its status");
	ok(result.killed, "killed");
	run_result_fini(&result);
}

/* What we were given is ours again after a run, and the next command's. */
static void test_dispositions(void)
{
	char *argv[] = {"grep", "-qE", "^SigIgn:.*[13579bdf]....$", "/proc/self/status", NULL};
	struct sigaction action;
	sigset_t before, after;
	bool same = true;

	fresh();
	signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_BLOCK, NULL, &before);
	for (int i = 0; i < 2; i++) {
		is_int(run_words(argv), 0, "run %d with SIGCHLD ignored: %s", i + 1, e.message);
		is_int(result.exit_status, 0, "the command ignores it as we did");
		run_result_fini(&result);
	}
	sigaction(SIGCHLD, NULL, &action);
	ok(action.sa_handler == SIG_IGN, "and so do we");
	sigprocmask(SIG_BLOCK, NULL, &after);
	for (int s = 1; s < NSIG; s++)
		same &= sigismember(&before, s) == sigismember(&after, s);
	ok(same, "the mask is as it was");
	signal(SIGCHLD, SIG_DFL);
}

/* -s: no signal, no counts; and no zeros instead. */
static void test_never_begun(void)
{
	char *argv[] = {"true", NULL};
	const struct run_request request = {.argv = argv, .by_signal = true};

	fresh();
	is_int(run_pass(&request, &plan, 0, &options, specs, &result, &e), 0, "-s, no signal");
	is_int(fake_pmu.enabled, 0, "nothing was enabled");
	ok(result.reading.counts[0].quantity.label == LABEL_NONE &&
			result.reading.counts[1].quantity.label == LABEL_NONE,
		"nothing was counted");
	ok(result.reading.counts[0].why[0], "why: %s", result.reading.counts[0].why);
	run_result_fini(&result);
}

/* A process that has ended, but that its parent does not wait for. */
static void test_attach_to_zombie(void)
{
	const struct run_request request = {.pid = fork()};

	if (request.pid == 0) {
		usleep(100000);
		_exit(0);
	}
	fresh();
	alarm(300);
	is_int(run_pass(&request, &plan, 0, &options, specs, &result, &e), 0, "attached");
	alarm(0);
	ok(!fake_os.had_usage, "no rusage of what is not ours");
	run_result_fini(&result);
	waitpid(request.pid, NULL, 0);
}

int main(void)
{
	test_counts();
	test_rows();
	test_attach_fails();
	test_tick_fails();
	test_killed_at_the_gate();
	test_traced();
	test_dispositions();
	test_never_begun();
	test_attach_to_zombie();
	return done();
}
