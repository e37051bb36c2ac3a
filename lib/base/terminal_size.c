/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && !value; i++) {
		value = getenv(variables[i]);
		value = value && *value ? value : NULL;
	}
	return value && (strcasestr(value, "UTF-8") || strcasestr(value, "utf8"));
}

unsigned terminal_columns(void)
{
	return terminal_columns_of(STDOUT_FILENO);
}

unsigned terminal_columns_of(int fd)
{
	enum { MOST = 1000 };
	const char *text = getenv("COLUMNS");
	struct winsize size = {0};
	long columns;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	columns = text ? strtol(text, NULL, 10) : 0;
	return columns > 0 && columns <= MOST ? (unsigned)columns : 0;
}
