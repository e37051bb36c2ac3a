/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc has of this process, of a child of known name, and of one that has ended; memory of
 * a child whose main thread has. */
#include "../tap.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"

static pid_t named_child(void)
{
	int ready[2];
	pid_t child;
	char c;

	if (pipe(ready))
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "a ) b c");
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		child = -1;
	close(ready[0]);
	return child;
}

static void of_child(pid_t child)
{
	static const int fields[] = {4, PROC_STAT_BEGAN, 99};
	char text[64];
	long values[3];
	uid_t owner;

	ok(proc_name(child, text, sizeof(text)), "it has a name");
	is_str(text, "a ) b c", "with a parenthesis");
	is_int(proc_stats(child, fields, 3, values), 0, "fields of stat");
	is_int(values[0], getpid(), "its parent, whatever the name");
	ok(values[1] > 0 && (uint64_t)values[1] == proc_began(child), "when it began");
	is_int(values[2], -1, "no such field");
	proc_status(child, "Name", text, sizeof(text));
	is_str(text, "a ) b c", "the first line of status");
	is_int(proc_status_number(child, "PPid", -1), getpid(), "a number of status");
	is_int(proc_status_number(child, "Pid", -1), child, "whose name ends another's");
	is_int(proc_status_number(child, "Nothing", -7), -7, "none of this name");
	ok(proc_owner(child, &owner) && owner == geteuid(), "its user");
	ok(proc_link(child, "exe", text, sizeof(text)) && text[0] == '/', "its program");
}

static void of_none(pid_t gone)
{
	char text[16] = "x";
	uid_t owner;

	ok(!proc_name(gone, text, sizeof(text)) && !text[0], "no name");
	is_int(proc_stat(gone, PROC_STAT_STATE), -1, "no state");
	is_int((long long)proc_began(gone), 0, "no beginning");
	ok(!proc_text(gone, "maps", 100), "no text");
	ok(!proc_owner(gone, &owner), "no user");
	ok(!proc_list(gone), "no list");
	is_int(proc_next(NULL), 0, "and nothing in it");
}

static const char peeked[] = "in memory of both";

static void *stay(void *none)
{
	pause();
	return none;
}

/* Its other thread stays. */
static pid_t child_without_main(void)
{
	pid_t child = fork();
	pthread_t thread;

	if (child == 0) {
		if (pthread_create(&thread, NULL, stay, NULL) == 0)
			syscall(SYS_exit, 0);
		_exit(1);
	}
	while (child > 0 && proc_stat(child, PROC_STAT_STATE) != 'Z')
		sched_yield();
	return child;
}

static void memory(void)
{
	char copy[sizeof(peeked)] = "";
	pid_t child = child_without_main();
	uint64_t address = (uintptr_t)peeked;

	ok(proc_living(child) != child, "a thread lives longer than its main thread");
	is_int((long long)proc_peek(child, address, copy, sizeof(copy)), sizeof(copy), "read");
	is_str(copy, peeked, "memory after the main thread's end");
	is_int((long long)proc_peek(getpid(), address, copy, 4), 4, "our own");
	is_int((long long)proc_peek(child, 0, copy, sizeof(copy)), 0, "nothing is there");
	kill(child, SIGKILL);
	proc_wait(child, NULL, 0);
	is_int((long long)proc_peek(child, address, copy, 1), 0, "of a process that has ended");
}

static bool lists(pid_t of, pid_t wanted)
{
	DIR *list = proc_list(of);
	bool found = false;
	pid_t pid;

	while ((pid = proc_next(list)))
		found |= pid == wanted;
	if (list)
		closedir(list);
	return found;
}

/* The mapping of an address, as the text of our maps has it. */
static bool own_mapping(uint64_t address, struct proc_mapping *m, char *text)
{
	char *save, *line = strtok_r(text, "\n", &save);

	for (; line; line = strtok_r(NULL, "\n", &save))
		if (proc_mapping(line, m) && m->begin <= address && address < m->end)
			return true;
	return false;
}

static void mappings(void)
{
	char known[] = "7f00-8f000 r-xp 0001a000 fe:01 1234  /a b (deleted)";
	char none[] = "7f00-8f000 rw-p 00000000 00:00 0", bad[] = "VmFlags: rd";
	struct proc_mapping m;
	char *text, *part;

	ok(proc_mapping(known, &m), "a line");
	ok(m.begin == 0x7f00 && m.end == 0x8f000 && m.offset == 0x1a000 && m.inode == 1234 &&
			m.device == 0xfe01,
		"its numbers");
	is_str(m.mode, "r-xp", "its rights");
	is_str(m.path, "/a b (deleted)", "its path");
	ok(proc_mapping(none, &m) && m.path[0] == '\0' && m.device == 0, "no file");
	ok(!proc_mapping(bad, &m), "no mapping");
	for (int i = 0; i < 600; i++) /* more text than one read returns */
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0) == MAP_FAILED)
			return;
	text = proc_text(getpid(), "maps", (size_t)1 << 20);
	part = proc_text(getpid(), "maps", 100);
	ok(text && part && strlen(part) == 100 && strncmp(text, part, 100) == 0, "a part of all");
	/* The stack; under Valgrind it has no name. */
	ok(text && own_mapping((uintptr_t)&m, &m, text) && strchr(m.mode, 'w'),
		"the last lines, too");
	free(text);
	free(part);
}

static void small_files(void)
{
	char line[40];

	ok(file_line(FILE_BOOT_ID, line, sizeof(line)) && strlen(line) == 36, "%s", line);
	ok(!file_line("/nowhere", line, sizeof(line)) && !line[0], "no file");
	ok(!file_line("/dev/null", line, sizeof(line)), "an empty one");
}

int main(void)
{
	pid_t child = named_child();
	int status = 0;

	of_child(child);
	ok(lists(0, child), "it is among all processes");
	ok(lists(getpid(), getpid()) && !lists(getpid(), child), "threads of this process");
	ok(proc_own_memory(0) > proc_own_memory(1) && proc_own_memory(1) >= 4096, "memory");
	kill(child, SIGKILL);
	ok(proc_wait(child, &status, 0) == child && WIFSIGNALED(status), "waited for");
	is_int(proc_wait(child, &status, 0), -1, "no such child");
	of_none(child);
	memory();
	mappings();
	small_files();
	return done();
}
