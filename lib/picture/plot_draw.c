/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs gnuplot on a script beside the picture. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"
#include "picture/plot.h"

enum { NOT_FOUND = 127 };

/* What gnuplot writes for the terminal, without blanks at the ends of lines and of the text, and
 * without form feeds. */
static int plot_draw_take(int fd, struct strbuf *text, struct error *e)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) != 0) {
		if (n < 0 && errno != EINTR)
			return error_sys(e, errno, "cannot read the output of gnuplot");
		for (ssize_t i = 0; i < n; i++) {
			while (bytes[i] == '\n' && text->length &&
				text->data[text->length - 1] == ' ')
				text->length--;
			if (bytes[i] != '\f')
				strbuf_add(text, &bytes[i], 1);
		}
	}
	while (text->length && strchr(" \n", text->data[text->length - 1]))
		text->length--;
	if (text->length)
		strbuf_putc(text, '\n');
	return 0;
}

static void plot_draw_start(const char *script, int out)
{
	if (dup2(out, STDOUT_FILENO) < 0)
		_exit(NOT_FOUND);
	/* the user's start file must not be run: "-d" leaves it out */
	/* scripts are UTF-8, whatever the user's locale */
	setenv("LC_ALL", "C.UTF-8", 1);
	execlp("gnuplot", "gnuplot", "-d", script, (char *)NULL);
	_exit(NOT_FOUND);
}

static int wait_for(pid_t pid, const char *script, const char *picture, struct error *e)
{
	int status;

	if (proc_wait(pid, &status, 0) < 0)
		return error_sys(e, errno, "cannot wait for gnuplot");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
		error_set(e, ERR_NOT_FOUND,
			"gnuplot is not installed: the script for the picture is in %s", script);
		return error_hint(e, "apt-get install gnuplot-nox, then: gnuplot %s", script);
	}
	if (strcmp(picture, "-") != 0)
		unlink(picture); /* half of one is none */
	error_set(e, ERR_SYSTEM, "gnuplot failed on %s", script);
	return error_hint(e, "its message is above; the script is kept");
}

static int plot_draw_run(
	const char *script, const char *picture, struct strbuf *text, struct error *e)
{
	int fds[2], rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return error_sys(e, errno, "cannot start gnuplot");
	pid = fork();
	if (pid == 0)
		plot_draw_start(script, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return error_sys(e, errno, "cannot start gnuplot");
	}
	rc = plot_draw_take(fds[0], text, e);
	close(fds[0]);
	return wait_for(pid, script, picture, e) || rc ? -1 : 0;
}

/* x.gp for x.png; to be freed by the caller. */
static char *script_path(const char *picture)
{
	const char *dot = strrchr(picture, '.');
	char *path = NULL;

	/* gnuplot takes what begins with '-' for an option */
	if (asprintf(&path, "%s%.*s.gp", picture[0] == '-' ? "./" : "", (int)(dot - picture),
		    picture) < 0)
		return NULL;
	return path;
}

/* For the terminal: a file whose name is unpredictable. */
static char *temporary_path(struct error *e)
{
	const char *directory = getenv("TMPDIR");
	char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/plot.XXXXXX.gp", directory && *directory ? directory : "/tmp") <
		0) {
		error_nomem(e);
		return NULL;
	}
	fd = mkstemps(path, 3);
	if (fd < 0) {
		error_sys(e, errno, "%s", path);
		free(path);
		return NULL;
	}
	close(fd);
	return path;
}

int plot_draw(const struct plot_output *to, const struct strbuf *script, struct strbuf *text,
	struct error *e)
{
	bool terminal = strcmp(to->path, "-") == 0;
	char *path;
	int rc;

	if (script->failed)
		return error_nomem(e);
	path = terminal ? temporary_path(e) : script_path(to->path);
	if (!path)
		return terminal ? -1 : error_nomem(e);
	rc = file_write(path, strbuf_text(script), script->length, e);
	if (rc == 0)
		rc = plot_draw_run(path, to->path, text, e);
	if (terminal && rc == 0)
		unlink(path);
	free(path);
	return rc;
}
