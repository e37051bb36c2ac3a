/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks in assembler, through the installed assembler. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"
#include "blockbench/block_items.h"

extern char **environ;

/* Runs a program and waits; its exit status, -1 with *e set when it cannot be run. */
static int run_program(const char *const *argv, struct error *e)
{
	pid_t pid;
	int status, rc = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);

	if (rc) {
		error_sys(e, rc, "cannot run %s", argv[0]);
		return error_hint(e, "install as and objcopy (package binutils), or use -hex");
	}
	if (proc_wait(pid, &status, 0) < 0)
		return error_sys(e, errno, "cannot wait for %s", argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int write_source(const char *path, const char *text, struct error *e)
{
	FILE *f = fopen(path, "we");
	bool bad;

	if (!f)
		return error_sys(e, errno, "cannot write %s", path);
	fprintf(f, "%s\n", text);
	bad = ferror(f);
	bad = fclose(f) || bad;
	return bad ? error_sys(e, errno, "cannot write %s", path) : 0;
}

static int assemble(block_items *items, const char *directory, const char *text, struct error *e)
{
	char source[64], object[64], binary[64];
	size_t length;
	char *bytes;
	int rc;

	snprintf(source, sizeof(source), "%s/block.s", directory);
	snprintf(object, sizeof(object), "%s/block.o", directory);
	snprintf(binary, sizeof(binary), "%s/block.bin", directory);
	if (write_source(source, text, e))
		return -1;
	rc = run_program((const char *[]){"as", "--64", "-o", object, source, NULL}, e);
	if (rc == 0)
		rc = run_program((const char *[]){"objcopy", "-O", "binary", "-j", ".text", object,
					 binary, NULL},
			e);
	if (rc > 0)
		error_set(e, ERR_PARSE, "the assembler rejects '%s'", text);
	bytes = rc ? NULL : file_read(binary, 1 << 20, &length, e);
	if (bytes) {
		struct block_item *item = block_item_new(items, bytes, length);

		rc = item ? 0 : error_nomem(e);
		if (item && !length)
			item->class = BLOCK_EMPTY;
	}
	free(bytes);
	unlink(source);
	unlink(object);
	unlink(binary);
	return bytes ? rc : -1;
}

int blocks_from_asm(block_items *items, const char *text, struct error *e)
{
	char directory[] = "/tmp/prof-block.XXXXXX";
	int rc;

	if (!mkdtemp(directory))
		return error_sys(e, errno, "cannot create a directory in /tmp");
	rc = assemble(items, directory, text, e);
	rmdir(directory);
	return rc;
}
