/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/base: errors, strings, options, JSON, statistics, near names. */
#include "../tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/option.h"
#include "base/order.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define KILLS 200

struct target {
	bool all;
	const char *file;
	unsigned long runs;
	double seconds;
	int calls;
};

static int call(void *target, const char *argument, struct error *e)
{
	if (argument && argument[0] == '!')
		return error_set(e, ERR_PARSE, "no");
	((struct target *)target)->calls += argument ? 1 : 100;
	return 0;
}

static const struct option_row table[] = {
	{"all", NULL, "everything", OPTION_FLAG, offsetof(struct target, all), NULL},
	{"file", "FILE", "a file", OPTION_STRING, offsetof(struct target, file), NULL},
	{"runs", "N", "how often", OPTION_COUNT, offsetof(struct target, runs), NULL},
	{"rush", NULL, "quickly", OPTION_FLAG, offsetof(struct target, all), NULL},
	{"p", "SECONDS", "periodically", OPTION_SECONDS, offsetof(struct target, seconds), NULL},
	{"passes", NULL, "one run a group", OPTION_FLAG, offsetof(struct target, all), NULL},
	{"e", "EVENT", "an event", OPTION_CALL, 0, call},
	{"how", NULL, "in some way", OPTION_MAYBE, 0, call},
	{NULL, NULL, NULL, OPTION_FLAG, 0, NULL},
};

static int parse(struct target *t, struct error *e, int argc, const char *const *words)
{
	memset(t, 0, sizeof(*t));
	memset(e, 0, sizeof(*e));
	return option_parse(table, t, argc, (char **)words, e);
}
#define PARSE(...)                                                                                 \
	parse(&t, &e, (int)(sizeof((const char *[]){"prog", __VA_ARGS__}) / sizeof(char *)),       \
		(const char *[]){"prog", __VA_ARGS__})

static void options(void)
{
	struct target t;
	struct error e;

	is_int(PARSE("-al", "--file", "x", "-runs=3", "-e", "a", "-e", "b", "cmd", "-x"), 9,
		"stops at the command");
	ok(t.all && t.runs == 3 && t.calls == 2 && strcmp(t.file, "x") == 0,
		"options of all kinds arrive");
	is_int(PARSE("-p", "0.5", "--", "-cmd"), 4,
		"-- ends the options; an exact name wins over a longer one");
	is_near(t.seconds, 0.5, 0, "seconds");
	is_int(PARSE("-ru"), -1, "an ambiguous abbreviation is refused");
	ok(strstr(e.message, "-runs") && strstr(e.message, "-rush"), "and names both: %s",
		e.message);
	ok(strncmp(e.hint, "-runs N: ", 9) == 0, "and says what the first is: %s", e.hint);
	is_int(PARSE("-flie", "x"), -1, "an unknown option is refused");
	ok(strstr(e.hint, "'-file'") != NULL, "with the nearest offered: %s", e.hint);
	is_int(PARSE("-runs", "0"), -1, "-runs 0 is refused");
	is_int(PARSE("-runs", "-1"), -1, "-runs -1 is refused");
	is_int(PARSE("-p", "nan"), -1, "-p nan is refused");
	is_int(PARSE("-file"), -1, "a missing argument is refused");
	is_int(PARSE("-all=1"), -1, "an argument where none belongs is refused");
	is_int(PARSE("-e", "!"), -1, "a call's error comes through");
	is_int(PARSE("-how", "x"), 2, "an argument that may be left out follows = only");
	is_int(t.calls, 100, "and there was none");
	is_int(PARSE("-how=y", "x"), 2, "with =");
	is_int(t.calls, 1, "there is one");
}

static void json(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	json_string(&j, "s", "a\"\\\n\x01\xff\xc3\xa9");
	json_array(&j, "a");
	json_number(&j, NULL, 1e15);
	json_number(&j, NULL, 0.1);
	json_number(&j, NULL, NAN);
	json_number(&j, NULL, -0.0);
	json_end_array(&j);
	json_bool(&j, "b", true);
	json_end_object(&j);
	fclose(f);
	is_str(text,
		"{\"s\":\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\",\"a\":[1000000000000000,0.1,"
		"null,0],\"b\":true}",
		"JSON is escaped and exact");
	free(text);
}

static void statistics(void)
{
	double x[] = {3, 1, 2, 10};

	is_near(stats_mean(x, 4), 4, 1e-12, "mean");
	is_near(stats_stddev(x, 4), 4.08248290463863, 1e-9, "standard deviation");
	is_near(stats_median(x, 4), 2.5, 0, "median");
	is_near(stats_t95(1), 12.7062, 1e-3, "t, 1 degree of freedom");
	is_near(stats_t95(5), 2.5706, 1e-3, "t, 5");
	is_near(stats_t95(30), 2.0423, 1e-3, "t, 30");
	is_near(stats_t95(1e9), 1.95996, 1e-4, "t, many");
}

static bool holds(const char *path, const char *want)
{
	char *text = file_read(path, 0, NULL, NULL);
	bool same = text && strcmp(text, want) == 0;

	free(text);
	return same;
}

static int write_file(const char *path, const char *text)
{
	struct file_out f;
	struct error e = {0};

	if (file_create(&f, path, &e))
		return -1;
	fputs(text, f.stream);
	return file_commit(&f, &e);
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The files of the current directory. */
static int files_here(void)
{
	DIR *d = opendir(".");
	int n = 0;

	for (struct dirent *entry; d && (entry = readdir(d));)
		n += entry->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* While a file is written, it has no name, where the file system can do that. */
static void unfinished(void)
{
	int before = files_here();
	struct error e = {0};
	struct file_out f;
	struct stat st;

	if (file_create(&f, "unfinished", &e)) {
		ok(false, "%s", e.message);
		return;
	}
	fputs("half", f.stream);
	fflush(f.stream);
	if (f.unnamed)
		is_int(files_here(), before, "an unfinished file has no name");
	else
		skip("this file system has no files without a name");
	file_private(&f);
	ok(file_commit(&f, &e) == 0 && holds("unfinished", "half"), "it has when it is complete");
	ok(stat("unfinished", &st) == 0 && (st.st_mode & 0777) == 0600, "and is private");
	if (file_create(&f, "unfinished", &e) == 0) {
		fputs("other", f.stream);
		file_abandon(&f);
	}
	ok(holds("unfinished", "half"), "an abandoned one changes nothing");
	is_int(write_file("unfinished", "whole"), 0, "and may be followed");
	ok(holds("unfinished", "whole"), "by a complete one");
	is_int(files_here(), before + 1, "nothing else is left");
	unlink("unfinished");
}

/* A process that is killed while it replaces a file again and again leaves the file alone. */
static void killed(void)
{
	int before = files_here(), many = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	is_int(write_file("replaced", "whole"), 0, "a file that is replaced");
	for (int i = 0; i < KILLS && !many; i++) {
		pid_t child = fork();

		while (child == 0)
			write_file("replaced", "whole");
		usleep(500 + (useconds_t)i * 10);
		kill(child, SIGKILL);
		while (waitpid(-1, NULL, __WALL) > 0)
			; /* and what it left to us */
		many = files_here() > before + 1;
	}
	is_int(many, 0, "a kill leaves no other name of it");
	ok(holds("replaced", "whole"), "and it is whole");
	unlink("replaced");
}

/* The thread sanitizer sees the locks of a thread that has replaced a file (make check-tsan). */
static atomic_bool turn_taken, turn_over;
static int turns_had;

static void take_turn(void)
{
	while (atomic_exchange(&turn_taken, true))
		usleep(100);
	turns_had++;
	atomic_store(&turn_taken, false);
}

static void *take_second_turn(void *context)
{
	while (!atomic_load_explicit(&turn_over, memory_order_relaxed)) /* orders nothing */
		usleep(100);
	take_turn();
	return context;
}

static void replaced_before_threads(void)
{
	pthread_t other;

	if (write_file("shared", "one") || write_file("shared", "two") ||
		pthread_create(&other, NULL, take_second_turn, NULL)) {
		ok(false, "a thread");
		return;
	}
	take_turn();
	atomic_store_explicit(&turn_over, true, memory_order_relaxed);
	pthread_join(other, NULL);
	is_int(turns_had, 2, "threads have their turns after a file was replaced");
	unlink("shared");
}

/* Links and descriptors are written through, and not replaced. */
static void files(void)
{
	char directory[] = "/tmp/perfex-test.XXXXXX", named[64];
	int fd;

	if (!mkdtemp(directory) || chdir(directory)) {
		ok(false, "a directory to write in");
		return;
	}
	replaced_before_threads();
	unfinished();
	killed();
	is_int(write_file("plain", "one"), 0, "a new file");
	is_int(write_file("plain", "two"), 0, "an old one");
	ok(holds("plain", "two"), "is replaced");
	ok(symlink("plain", "link") == 0 && write_file("link", "three") == 0, "a link");
	ok(is_link("link") && holds("plain", "three"), "stays one, and its target is replaced");
	ok(symlink("new", "dangling") == 0 && write_file("dangling", "four") == 0, "to nothing");
	ok(is_link("dangling") && holds("new", "four"), "stays one, and its target is made");
	fd = open("both", O_RDWR | O_CREAT, 0666);
	ok(fd >= 0 && write(fd, "first ", 6) == 6, "an open descriptor");
	snprintf(named, sizeof(named), "/proc/self/fd/%d", fd);
	is_int(write_file(named, "second"), 0, "by its name in /proc");
	ok(holds("both", "first second"), "goes on where it stands");
	close(fd);
	is_int(write_file("/nowhere/file", ""), -1, "a directory that is not there");
	ok(write_file("/dev/null", "") == 0, "a device");
	if (system("rm -f plain link new dangling both") || chdir("/") || rmdir(directory))
		printf("# %s is left\n", directory);
}

static void test_search(void)
{
	static const int values[] = {1, 3, 3, 7};
	bool right = true;

	for (int wanted = 0; wanted < 9; wanted++)
		for (size_t count = 0; count <= 4; count++) {
			size_t slow = 0;

			while (slow < count && values[slow] < wanted)
				slow++;
			right &= vec_search(at, count, values[at] < wanted) == slow;
		}
	ok(right, "a search by halving finds what one step by step does");
}

struct ordered {
	uint64_t number;
	unsigned place; /* before sorting */
	char filler[12];
};

static int compared; /* calls of compare_ordered */

static int compare_ordered(const void *a, const void *b)
{
	compared++;
	return ORDER(((const struct ordered *)a)->number, ((const struct ordered *)b)->number);
}

static uint64_t ordered_number(const void *o)
{
	return ((const struct ordered *)o)->number;
}

/* Are they in order, equal ones as they were, and none lost? */
static bool in_order(const struct ordered *o, size_t count)
{
	uint64_t places = 0;

	for (size_t i = 0; i < count; i++) {
		places += o[i].place;
		if (i && (o[i - 1].number > o[i].number ||
				 (o[i - 1].number == o[i].number && o[i - 1].place > o[i].place)))
			return false;
	}
	return places == (uint64_t)count * (count ? count - 1 : 0) / 2;
}

static void test_order(void)
{
	enum { MOST = 3000 };
	static struct ordered by_number[MOST], by_comparison[MOST];
	static const unsigned shifts[] = {0, 7, 30, 56, 63};
	bool right = true;

	for (size_t k = 0; k < sizeof(shifts) / sizeof(shifts[0]); k++)
		for (size_t count = 0; count <= MOST; count = 3 * count + 1) {
			uint64_t draw = count + 1;

			for (unsigned i = 0; i < count; i++) {
				draw = draw * 6364136223846793005 + 1442695040888963407;
				by_number[i] =
					(struct ordered){.number = draw >> shifts[k], .place = i};
			}
			memcpy(by_comparison, by_number, sizeof(by_number));
			right &= order_by_number(by_number, count, sizeof(by_number[0]),
					 ordered_number) == 0;
			right &= in_order(by_number, count);
			order_sort(by_comparison, count, sizeof(by_number[0]), compare_ordered);
			right &= memcmp(by_comparison, by_number, count * sizeof(by_number[0])) ==
					 0 ||
				 shifts[k] > 40; /* qsort promises nothing of equal ones */
		}
	ok(right, "sorted by number as by comparison, equal ones in their order");
	compared = 0;
	order_sort(by_number, 1093, sizeof(by_number[0]), compare_ordered);
	is_int(compared, 1092, "what is in order is compared once");
}

int main(void)
{
	test_order();
	test_search();
	struct error e;
	struct strbuf s = {0};
	struct nearest near;
	char text[128], *taken;

	is_int(error_sys(&e, EACCES, "cannot open %s", "x"), -1, "error_sys returns -1");
	is_int(e.code, ERR_PERMISSION, "EACCES is a matter of permission");
	is_str(e.message, "cannot open x: Permission denied", "message");
	strbuf_printf(&s, "%d-%s", 7, "seven");
	strbuf_repeat(&s, '.', 3);
	taken = strbuf_take(&s);
	is_str(taken, "7-seven...", "strbuf");
	free(taken);
	nearest_init(&near, "cylces");
	nearest_offer(&near, "stores");
	nearest_offer(&near, "cycles");
	nearest_offer(&near, "walk-cycles");
	is_str(nearest_text(&near, text, sizeof(text)), "did you mean 'cycles'?", "nearest name");
	options();
	json();
	statistics();
	files();
	return done();
}
