/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/pauses.h"

#include <string.h>

#include "experiment/private.h"

const char *const experiment_pause_words[PAUSE_REASONS] = {
	[PAUSE_UNKNOWN] = "unknown",
	[PAUSE_PROCESSOR] = "processor",
	[PAUSE_SLEEP] = "sleep",
	[PAUSE_FUTEX] = "futex",
	[PAUSE_PIPE] = "pipe",
	[PAUSE_SOCKET] = "socket",
	[PAUSE_FILE] = "file",
	[PAUSE_TERMINAL] = "terminal",
	[PAUSE_EVENT] = "event",
	[PAUSE_POLL] = "poll",
	[PAUSE_CHILD] = "child",
	[PAUSE_SIGNAL] = "signal",
	[PAUSE_IPC] = "ipc",
	[PAUSE_FAULT] = "fault",
	[PAUSE_STOPPED] = "stopped",
	[PAUSE_CALL] = "call",
	[PAUSE_KERNEL] = "kernel",
};

const char *const experiment_wake_words[WAKE_KINDS] = {
	[WAKE_UNSEEN] = "unseen", [WAKE_THREAD] = "thread", [WAKE_INTERRUPT] = "interrupt"};

/* Row 0 is what is not known. Reasons of later versions are printed by number. */
static const struct row_field obstacle_fields[] = {
	{ROW_KEY(experiment_obstacle, reason), .names = experiment_pause_words,
		.names_count = PAUSE_REASONS},
	{ROW_KEY(experiment_obstacle, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_obstacle, address), .hex = 1},
	{ROW_KEY(experiment_obstacle, hash), .hex = 1},
	{ROW_FIELD(experiment_obstacle, call), .coding = ROW_TEXT, .own = 1},
	{ROW_FIELD(experiment_obstacle, name), .coding = ROW_TEXT, .own = 1},
};

static void keep_least(char **to, char **from)
{
	char *text = *to;

	if (!*from || (text && strcmp(text, *from) <= 0))
		return;
	*to = *from;
	*from = text;
}

static void add_obstacle(void *to, void *row)
{
	struct experiment_obstacle *a = to, *b = row;

	keep_least(&a->call, &b->call);
	keep_least(&a->name, &b->name);
}

const struct row_kind experiment_obstacles_kind = {
	ROW_KIND(experiment_obstacle, obstacle_fields, 4), .type = "OBST", .word = "obstacle",
	.fixed = 1, .numbered = true, .referred_to = true, .add = add_obstacle};

static const struct row_field pause_fields[] = {
	{ROW_KEY(experiment_pause, obstacle), .reference = EXPERIMENT_OBSTACLES},
	{ROW_KEY(experiment_pause, thread), .reference = EXPERIMENT_THREADS},
	{ROW_KEY(experiment_pause, phase), .reference = EXPERIMENT_PHASES},
	{ROW_KEY(experiment_pause, node), .reference = EXPERIMENT_NODES},
	{ROW_KEY(experiment_pause, wake), .names = experiment_wake_words,
		.names_count = WAKE_KINDS},
	{ROW_KEY(experiment_pause, waker), .reference = EXPERIMENT_THREADS},
	{ROW_KEY(experiment_pause, waker_node), .reference = EXPERIMENT_NODES},
	{ROW_FIELD(experiment_pause, count)},
	{ROW_FIELD(experiment_pause, time), .positive = 1},
	{ROW_FIELD(experiment_pause, longest), .own = 1},
};

static void add_pause(void *to, void *row)
{
	struct experiment_pause *a = to;
	const struct experiment_pause *b = row;

	if (a->longest < b->longest)
		a->longest = b->longest;
}

const struct row_kind experiment_pauses_kind = {ROW_KIND(experiment_pause, pause_fields, 7),
	.type = "PAUS", .word = "pause", .add = add_pause};
