/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/python_frames.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "process/executable.h"

enum { DEPTH = 64, THREADS_MOST = 32, SNAPSHOTS = 8, TRIALS = 4, NAME_ROOM = 200 };
/* A process may have any number of functions and threads, one after the other. */
enum { CODES_KEPT = 65536, THREADS_KEPT = 1024 };

/* Offsets in CPython 3.11: Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h,
 * Include/cpython/pystate.h, code.h, unicodeobject.h. */
enum {
	RUNTIME_INTERPRETERS = 40, /* head */
	INTERPRETER_THREADS = 16,  /* head */
	THREAD_NEXT = 8,
	THREAD_CFRAME = 56,
	THREAD_NATIVE = 160,
	THREAD_ROOM = 168,
	CFRAME_FRAME = 8,
	FRAME_CODE = 32,
	FRAME_PREVIOUS = 48,
	FRAME_ROOM = 56,
	OBJECT_TYPE = 8,
	CODE_LINE = 72,
	CODE_FILE = 112,
	CODE_NAME = 128,
	CODE_ROOM = 136,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	TEXT_ASCII = 48,        /* where the characters are, of ASCII ones */
	TEXT_IS_ASCII = 3 << 5, /* compact and ASCII */
};

struct python_process {
	struct {
		uint64_t pid;
	} key;
	uint32_t space;                /* in which the rest was looked for */
	uint64_t runtime, code_type;   /* addresses; 0: it is no such process */
	uint64_t loop_begin, loop_end; /* _PyEval_EvalFrameDefault */
	uint32_t image;                /* in the experiment, of its functions; 0: none yet */
};

struct python_code {
	struct {
		uint64_t address;
		uint64_t pid;
	} key;
	bool named;
};

struct python_snapshot {
	uint64_t time;
	size_t count;
	uint64_t codes[DEPTH]; /* innermost first */
};

struct python_thread {
	struct {
		uint64_t tid;
	} key;
	size_t next;
	struct python_snapshot snapshots[SNAPSHOTS];
};

void python_init(struct python_frames *f, struct spaces *spaces)
{
	memset(f, 0, sizeof(*f));
	f->spaces = spaces;
	f->processes = TABLE_OF(struct python_process);
	f->codes = TABLE_OF(struct python_code);
	f->threads = TABLE_OF(struct python_thread);
}

void python_fini(struct python_frames *f)
{
	table_fini(&f->processes);
	table_fini(&f->codes);
	table_fini(&f->threads);
}

/* ---- memory ---- */

static bool python_read(uint64_t pid, uint64_t address, void *to, size_t size)
{
	return address && proc_peek((pid_t)pid, address, to, size) == size;
}

static uint64_t python_word(const char *at, size_t offset)
{
	uint64_t v;

	memcpy(&v, at + offset, sizeof(v));
	return v;
}

/* Its beginning, if it is ASCII. */
static bool python_text(uint64_t pid, uint64_t address, char *to, size_t room)
{
	char head[TEXT_ASCII];
	uint64_t length;
	uint32_t state;

	if (!python_read(pid, address, head, sizeof(head)))
		return false;
	length = python_word(head, TEXT_LENGTH);
	memcpy(&state, head + TEXT_STATE, sizeof(state));
	if ((state & TEXT_IS_ASCII) != TEXT_IS_ASCII)
		return false;
	if (length >= room)
		length = room - 1;
	to[length] = '\0';
	return python_read(pid, address + TEXT_ASCII, to, length) && strlen(to) == length;
}

/* ---- processes ---- */

static uint64_t python_variable(struct image *image, const char *name, uint64_t bias)
{
	struct image_variable v;

	return image_variable_find(image, name, &v) == 0 ? v.address + bias : 0;
}

static bool is_python(const char *path)
{
	const char *name = file_base_name(path);

	return fnmatch("python3.11", name, 0) == 0 || fnmatch("libpython3.11.so*", name, 0) == 0;
}

/* The interpreter that the first line of a script names, perhaps by env. */
static bool is_python_script(const char *path)
{
	char head[256] = "", found[PATH_MAX], *rest, *word;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
	bool is = false;

	if (fd >= 0 && read(fd, head, sizeof(head) - 1) < 0)
		head[0] = '\0';
	if (fd >= 0)
		close(fd);
	head[strcspn(head, "\n")] = '\0';
	if (strncmp(head, "#!", 2) != 0)
		return false;
	for (word = strtok_r(head + 2, " \t\r\n", &rest); word && !is;
		word = strtok_r(NULL, " \t\r\n", &rest)) {
		char *real = executable_find(word, found, sizeof(found), NULL) == 0
				     ? realpath(found, NULL)
				     : NULL;

		is = real && is_python(real);
		free(real);
	}
	return is;
}

bool python_runs(char *const *argv, pid_t pid)
{
	char path[PATH_MAX], *real;
	bool is;

	if (argv && executable_find(argv[0], path, sizeof(path), NULL))
		return false;
	if (!argv)
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	real = realpath(path, NULL);
	is = real && (is_python(real) || (argv && is_python_script(real)));
	free(real);
	return is;
}

static void python_look(
	struct python_frames *f, struct python_process *own, const struct process *p)
{
	struct collect_images *images = f->spaces->images;

	own->space = p->space;
	own->runtime = 0;
	for (size_t i = 0; i < p->mappings.count && !own->runtime; i++) {
		const struct mapping *m = &p->mappings.data[i];
		const struct image_symbol *loop;
		struct image *image;
		uint64_t bias;

		if (!is_python(images->list.data[m->image].identity.path))
			continue;
		image = images_open(images, m->image);
		if (!image)
			continue;
		bias = m->begin - spaces_address(f->spaces, m, m->begin);
		loop = image_symbol_find(image, "_PyEval_EvalFrameDefault");
		if (!loop)
			continue;
		own->loop_begin = loop->address + bias;
		own->loop_end = own->loop_begin + loop->size;
		own->code_type = python_variable(image, "PyCode_Type", bias);
		if (own->code_type)
			own->runtime = python_variable(image, "_PyRuntime", bias);
	}
}

/* NULL: it is none, or memory is out. */
static struct python_process *python_process_of(struct python_frames *f, const struct process *p)
{
	struct python_process key = {.key = {(uint64_t)(uint32_t)p->pid}}, *own;

	own = table_add(&f->processes, &key.key);
	if (own && own->space != p->space)
		python_look(f, own, p);
	return own && own->runtime ? own : NULL;
}

/* ---- code objects ---- */

static int name_code(
	struct python_frames *f, struct python_process *own, uint64_t address, const char *code)
{
	struct experiment *x = f->spaces->experiment;
	char name[NAME_ROOM], file[4 * NAME_ROOM], text[2 * NAME_ROOM];
	const struct experiment_image image = {.kind = EXPERIMENT_IMAGE_ANONYMOUS,
		.path = (char *)PYTHON_IMAGE,
		.pid = (pid_t)own->key.pid};
	int32_t line;
	long index;

	if (!own->image) {
		index = experiment_image(x, &image, NULL);
		if (index < 0)
			return -1;
		own->image = (uint32_t)index;
	}
	memcpy(&line, code + CODE_LINE, sizeof(line));
	if (!python_text(own->key.pid, python_word(code, CODE_NAME), name, sizeof(name)))
		snprintf(name, sizeof(name), "a function whose name is not ASCII");
	if (!python_text(own->key.pid, python_word(code, CODE_FILE), file, sizeof(file)))
		file[0] = '\0';
	snprintf(text, sizeof(text), "%s (%.*s:%d)", name, NAME_ROOM / 2, file_base_name(file),
		(int)line);
	return experiment_symbol(x, own->image, address, 1, text, NULL);
}

/* 1: it is one, with a name; 0: it is none; -1: memory is out. */
static int python_code(struct python_frames *f, struct python_process *own, uint64_t address)
{
	struct python_code key = {.key = {address, own->key.pid}}, *known;
	char code[CODE_ROOM];

	known = table_find(&f->codes, &key.key);
	if (known)
		return 1;
	if (f->codes.count >= CODES_KEPT ||
		!python_read(own->key.pid, address, code, sizeof(code)) ||
		python_word(code, OBJECT_TYPE) != own->code_type)
		return 0;
	if (!table_add(&f->codes, &key.key) || name_code(f, own, address, code))
		return -1;
	return 1;
}

bool python_is_code(const struct python_frames *f, pid_t pid, uint64_t address, uint32_t *image)
{
	struct python_code key = {.key = {address, (uint64_t)(uint32_t)pid}};
	struct python_process of = {.key = {(uint64_t)(uint32_t)pid}};
	const struct python_process *own;

	if (!f->codes.count || !table_find(&f->codes, &key.key))
		return false;
	own = table_find(&f->processes, &of.key);
	*image = own ? own->image : 0;
	return own && own->image;
}

/* ---- snapshots ---- */

/* What changes while it is read makes no sense, and is dropped: 0. */
static int take_frames(struct python_frames *f, struct python_process *own, uint64_t frame,
	struct python_snapshot *to)
{
	char head[FRAME_ROOM];

	to->count = 0;
	while (frame && to->count < DEPTH) {
		uint64_t code;
		int rc;

		if (!python_read(own->key.pid, frame, head, sizeof(head)))
			return 0;
		code = python_word(head, FRAME_CODE);
		rc = python_code(f, own, code);
		if (rc <= 0)
			return rc;
		to->codes[to->count++] = code;
		frame = python_word(head, FRAME_PREVIOUS);
	}
	return 1;
}

/* A call or a return meanwhile may have mixed two paths: then it is tried again. */
static int take_steady(struct python_frames *f, struct python_process *own, uint64_t current,
	struct python_snapshot *to)
{
	for (int i = 0; i < TRIALS; i++) {
		uint64_t frame, again;
		int rc;

		if (!python_read(own->key.pid, current, &frame, sizeof(frame)))
			return 0;
		rc = take_frames(f, own, frame, to);
		if (rc < 0 || !python_read(own->key.pid, current, &again, sizeof(again)))
			return rc;
		if (rc > 0 && again == frame)
			return to->count > 0;
	}
	return 0;
}

static int take_thread(struct python_frames *f, struct python_process *own, const char *thread)
{
	struct python_thread key = {.key = {python_word(thread, THREAD_NATIVE)}}, *to;
	struct python_snapshot one = {0};
	int rc = take_steady(f, own, python_word(thread, THREAD_CFRAME) + CFRAME_FRAME, &one);

	if (rc <= 0)
		return rc;
	to = table_find(&f->threads, &key.key);
	if (!to && f->threads.count >= THREADS_KEPT) { /* few of them count for a sample */
		table_fini(&f->threads);
		f->threads = TABLE_OF(struct python_thread);
	}
	if (!to)
		to = table_add(&f->threads, &key.key);
	if (!to)
		return -1;
	one.time = clock_ns();
	to->snapshots[to->next++ % SNAPSHOTS] = one;
	return 0;
}

static int take_process(struct python_frames *f, struct python_process *own)
{
	uint64_t interpreter, thread;
	char head[THREAD_ROOM];

	if (!python_read(own->key.pid, own->runtime + RUNTIME_INTERPRETERS, &interpreter,
		    sizeof(interpreter)) ||
		!python_read(
			own->key.pid, interpreter + INTERPRETER_THREADS, &thread, sizeof(thread)))
		return 0;
	for (int i = 0; i < THREADS_MOST && thread; i++) {
		if (!python_read(own->key.pid, thread, head, sizeof(head)))
			return 0;
		if (take_thread(f, own, head))
			return -1;
		thread = python_word(head, THREAD_NEXT);
	}
	return 0;
}

int python_snapshot(struct python_frames *f)
{
	for (size_t i = 0; i < f->processes.count; i++) {
		struct python_process *own = table_at(&f->processes, i);

		if (own->runtime && take_process(f, own))
			return -1;
	}
	return 0;
}

/* ---- samples ---- */

static const struct python_snapshot *snapshot_at(
	const struct python_frames *f, pid_t tid, uint64_t time)
{
	struct python_thread key = {.key = {(uint64_t)(uint32_t)tid}};
	const struct python_thread *t = table_find(&f->threads, &key.key);
	const struct python_snapshot *best = NULL;

	for (size_t i = 0; t && i < SNAPSHOTS; i++) {
		const struct python_snapshot *s = &t->snapshots[i];

		if (s->count && s->time >= time && s->time - time <= PYTHON_LATE &&
			(!best || s->time < best->time))
			best = s;
	}
	return best;
}

long python_merge(struct python_frames *f, const struct process *p, pid_t tid, uint64_t time,
	uint64_t *pcs, size_t n, size_t room)
{
	const struct python_process *own = python_process_of(f, p);
	const struct python_snapshot *s;
	size_t first = n, last = 0, tail, at;

	for (size_t i = 0; own && i < n; i++)
		if (pcs[i] >= own->loop_begin && pcs[i] < own->loop_end) {
			first = first < i ? first : i;
			last = i;
		}
	if (!own || first == n)
		return (long)n;
	s = snapshot_at(f, tid, time);
	if (!s) {
		f->late++;
		return (long)n;
	}
	f->merged++;
	at = first + (first == 0); /* the loop itself has the sample */
	tail = n - last - 1;
	if (at + s->count + tail > room)
		return (long)n;
	memmove(pcs + at + s->count, pcs + last + 1, tail * sizeof(*pcs));
	for (size_t i = 0; i < s->count; i++)
		pcs[at + i] = s->codes[i] + 1;
	return (long)(at + s->count + tail);
}

int python_say(const struct python_frames *f)
{
	char text[64];

	if (!f->merged && !f->late)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, f->merged, f->merged + f->late);
	return experiment_fact(f->spaces->experiment, PYTHON_READ_FACT, text, NULL);
}
