/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "report/report_waits.h"

enum { CALLERS = 4 };

const char *report_waits_reason(uint32_t reason)
{
	static const char *const meanings[PAUSE_REASONS] = {
		[PAUSE_UNKNOWN] = "not known",
		[PAUSE_PROCESSOR] = "processor: others were running",
		[PAUSE_SLEEP] = "sleep",
		[PAUSE_FUTEX] = "futex: a lock, a condition, the end of a thread",
		[PAUSE_PIPE] = "pipe",
		[PAUSE_SOCKET] = "socket",
		[PAUSE_FILE] = "file",
		[PAUSE_TERMINAL] = "terminal",
		[PAUSE_EVENT] = "event",
		[PAUSE_POLL] = "poll: several descriptors",
		[PAUSE_CHILD] = "child",
		[PAUSE_SIGNAL] = "signal",
		[PAUSE_IPC] = "message queue or semaphore",
		[PAUSE_FAULT] = "page fault",
		[PAUSE_STOPPED] = "stopped by a signal or a debugger",
		[PAUSE_CALL] = "other system call",
		[PAUSE_KERNEL] = "thread of the kernel",
	};

	return reason < PAUSE_REASONS ? meanings[reason] : "reason of a later version";
}

/* ---- objects ---- */

static void put_variable(
	const struct prof_data *d, uint32_t image, uint64_t address, struct strbuf *to)
{
	struct image *file = profile_names_file(&d->names, image);
	struct image_variable v;

	if (file && image_variable_at(file, address, &v) == 0) {
		strbuf_puts(to, v.name);
		if (address > v.address)
			strbuf_printf(to, "+%llu", (unsigned long long)(address - v.address));
	} else {
		strbuf_printf(to, "data at 0x%llx", (unsigned long long)address);
	}
	strbuf_printf(to, " (%s)", d->images.data[image].name);
}

static const char *thread_name(const struct experiment *x, uint64_t tid)
{
	for (size_t i = x->threads.count; i-- > 1;)
		if ((uint64_t)x->threads.data[i].tid == tid && x->threads.data[i].name)
			return x->threads.data[i].name;
	return "";
}

static void put_object(const struct prof_data *d, size_t input, const struct experiment_obstacle *o,
	struct strbuf *to)
{
	if (o->key.image)
		put_variable(d, d->image_of.data[input][o->key.image], o->key.address, to);
	else if (o->key.reason == PAUSE_CHILD && o->key.address)
		strbuf_printf(to, "%s%sprocess %llu", o->name, o->name[0] ? ", " : "",
			(unsigned long long)o->key.address);
	else if (o->key.reason == PAUSE_FUTEX && o->name[0] && o->key.address)
		strbuf_printf(to, "%s %llu %s", o->name, (unsigned long long)o->key.address,
			thread_name(d->request->inputs[input].experiment, o->key.address));
	else if (o->name[0])
		strbuf_puts(to, o->name);
	else if (o->key.address)
		strbuf_printf(to, "at 0x%llx", (unsigned long long)o->key.address);
}

void report_waits_object(
	const struct prof_data *d, size_t input, uint32_t obstacle, struct strbuf *to)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	const struct experiment_obstacle *o = experiment_obstacle_at(x, obstacle);
	size_t before = to->length;

	if (!obstacle || !o->call || !o->name)
		return;
	put_object(d, input, o, to);
	if (o->call[0])
		strbuf_printf(to, "%s%s", to->length > before ? ", " : "", o->call);
}

/* ---- places ---- */

/* Functions of these are what the program calls to wait. */
static bool is_library(const struct prof_data *d, const struct report_code *c)
{
	static const char *const images[] = {
		"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "[vdso]", "libstdc++.so"};
	const char *name = d->images.data[c->image].name;

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		if (strncmp(name, images[i], strlen(images[i])) == 0)
			return true;
	return report_code_is_library(c);
}

static bool is_kernel(const struct prof_data *d, uint32_t image)
{
	const struct experiment_image *i = d->images.data[image].image;

	return i && i->kind == EXPERIMENT_IMAGE_KERNEL;
}

static const char *waits_name(const struct prof_data *d, const struct report_code *c)
{
	return c->function ? c->function : d->images.data[c->image].name;
}

struct frames {
	const struct prof_data *d;
	struct report_waits_place place;
	struct strbuf *path;
	unsigned shown;
	bool ended;
};

/* The next frame outwards. */
static void take_frame(struct frames *f, const struct report_code *c)
{
	if (!f->shown && is_library(f->d, c)) {
		/* Without symbols, the library's name says less than a function further in. */
		if (c->function || !f->place.through)
			f->place.through = waits_name(f->d, c);
		if (!f->place.any)
			f->place.code = *c;
		f->place.any = true;
		return;
	}
	if (f->ended || f->shown >= CALLERS || (f->shown && is_library(f->d, c)))
		return;
	if (!f->shown)
		f->place.code = *c;
	f->place.any = true;
	if (f->path)
		strbuf_printf(f->path, "%s%s", f->shown ? " < " : "", waits_name(f->d, c));
	f->shown++;
	f->ended = c->function && strcmp(c->function, "main") == 0;
}

struct report_waits_place report_waits_place(
	const struct prof_data *d, size_t input, uint32_t node, struct strbuf *path)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	struct frames f = {.d = d, .path = path};
	struct report_code code[REPORT_CODE_FRAMES];
	size_t left = x->nodes.count; /* of a damaged file, a parent may have any number */

	/* Image 0 is not known. */
	for (; node != EXPERIMENT_ROOT && node < x->nodes.count && left--;
		node = experiment_node_at(x, node)->key.parent) {
		const struct experiment_node *n = experiment_node_at(x, node);
		uint32_t image = d->image_of.data[input][n->key.image];
		size_t count;

		if (!n->key.image || is_kernel(d, image))
			continue;
		count = report_code_at(d, image, n->key.address, code, REPORT_CODE_FRAMES);
		for (size_t i = 0; i < count; i++)
			take_frame(&f, &code[i]);
	}
	if (!f.shown)
		f.place.through = NULL;
	return f.place;
}

void report_waits_thread(
	const struct prof_data *d, size_t input, uint32_t thread, struct strbuf *to)
{
	const struct experiment_thread *t =
		&d->request->inputs[input].experiment->threads.data[thread];

	strbuf_printf(
		to, "%d%s%s", (int)t->tid, t->name && *t->name ? " " : "", t->name ? t->name : "");
}

void report_waits_waker(const struct prof_data *d, size_t input, const struct experiment_pause *p,
	struct strbuf *to)
{
	struct strbuf path = {0};
	struct report_waits_place place;

	if (p->key.wake == WAKE_INTERRUPT)
		strbuf_puts(to, "an interrupt");
	if (p->key.wake != WAKE_THREAD)
		return;
	place = report_waits_place(d, input, p->key.waker_node, &path);
	strbuf_puts(to, p->key.waker ? "thread " : "a thread");
	if (p->key.waker)
		report_waits_thread(d, input, p->key.waker, to);
	if (path.length)
		strbuf_printf(to, " in %s", strbuf_text(&path));
	else if (place.any)
		strbuf_printf(to, " in %s", waits_name(d, &place.code));
	to->failed |= path.failed;
	strbuf_fini(&path);
}
