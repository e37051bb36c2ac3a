/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "perfex.h"
#include "say.h"

int output(const struct options *o, const struct strbuf *text, FILE *stream, struct error *e)
{
	struct file_out f;

	if (text->failed)
		return error_nomem(e);
	if (!o->output || strcmp(o->output, "-") == 0) {
		stream = o->output ? stdout : stream;
		errno = 0;
		if (fwrite(strbuf_text(text), 1, text->length, stream) != text->length ||
			fflush(stream))
			return error_sys(e, errno, "cannot write the report");
		return 0;
	}
	if (file_create(&f, o->output, e))
		return -1;
	fwrite(strbuf_text(text), 1, text->length, f.stream);
	return file_commit(&f, e);
}

static int run_gnuplot(const char *script, struct error *e)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return error_sys(e, errno, "cannot start gnuplot");
	if (pid == 0) {
		execlp("gnuplot", "gnuplot", script, (char *)NULL);
		_exit(EXIT_NOT_FOUND);
	}
	if (waitpid(pid, &status, 0) != pid)
		return error_sys(e, errno, "cannot wait for gnuplot");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND) {
		error_set(e, ERR_NOT_FOUND,
			"gnuplot is not installed: the script for the picture is in %s", script);
		return error_hint(e, "apt-get install gnuplot-nox, then: gnuplot %s", script);
	}
	error_set(e, ERR_SYSTEM, "gnuplot failed on %s", script);
	return error_hint(e, "its message stands above; the script is kept");
}

int output_plot(const char *picture, const struct strbuf *script, struct error *e)
{
	bool terminal = strcmp(picture, "-") == 0;
	char *path = NULL;
	struct file_out f;
	int rc = -1;

	if (script->failed)
		return error_nomem(e);
	if (terminal ? asprintf(&path, "/tmp/perfex-plot.%d.gp", (int)getpid()) < 0
		     : asprintf(&path, "%s.gp", picture) < 0)
		return error_nomem(e);
	if (file_create(&f, path, e) == 0) {
		fwrite(strbuf_text(script), 1, script->length, f.stream);
		rc = file_commit(&f, e);
	}
	if (rc == 0)
		rc = run_gnuplot(path, e);
	if (terminal && rc == 0)
		unlink(path);
	free(path);
	return rc;
}
