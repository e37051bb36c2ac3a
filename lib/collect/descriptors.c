/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/descriptors.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKS_MOST   64  /* a round */
#define PEERS_MOST   512 /* sockets whose peers are sought, of a run */
#define LINES_MOST   20000
#define ADDRESS_ROOM (INET6_ADDRSTRLEN + 8)

struct node { /* of pipefs or sockfs */
	struct {
		uint64_t inode;
	} key;
	char *name;
};

void descriptors_init(struct descriptors *d)
{
	memset(d, 0, sizeof(*d));
	d->known = TABLE_OF(struct descriptor);
	d->nodes = TABLE_OF(struct node);
	d->round = 1;
}

void descriptors_round(struct descriptors *d)
{
	d->round++;
	d->looks = 0;
}

void descriptors_fini(struct descriptors *d)
{
	for (size_t i = 0; i < d->known.count; i++)
		free(((struct descriptor *)table_at(&d->known, i))->name);
	for (size_t i = 0; i < d->nodes.count; i++)
		free(((struct node *)table_at(&d->nodes, i))->name);
	table_fini(&d->known);
	table_fini(&d->nodes);
}

/* ---- sockets ---- */

/* "0100007F:1F90" of /proc/net/tcp, whose words are in the byte order of the host. */
static int parse_address(const char *text, char *to, size_t size)
{
	size_t digits = strcspn(text, ":");
	uint32_t words[4] = {0};
	char room[INET6_ADDRSTRLEN];
	unsigned port;
	int family = digits == 8 ? AF_INET : AF_INET6;

	if ((digits != 8 && digits != 32) || sscanf(text + digits, ":%4x", &port) != 1)
		return -1;
	for (size_t i = 0; i < digits / 8; i++)
		if (sscanf(text + 8 * i, "%8x", &words[i]) != 1)
			return -1;
	if (!inet_ntop(family, words, room, sizeof(room)))
		return -1;
	if (port)
		snprintf(to, size, family == AF_INET ? "%s:%u" : "[%s]:%u", room, port);
	else
		snprintf(to, size, "*");
	return 0;
}

static int parse_unix(const char *line, uint64_t inode, char *to, size_t size)
{
	unsigned long long found;
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %llu%n", &found, &path) != 1 || found != inode)
		return -1;
	path += (int)strspn(line + path, " ");
	snprintf(to, size, "unix%s%.*s", strcspn(line + path, "\n") ? " " : "",
		(int)strcspn(line + path, "\n"), line + path);
	return 0;
}

int descriptors_parse(const char *kind, const char *line, uint64_t inode, char *to, size_t size)
{
	char local[64], remote[64], a[ADDRESS_ROOM], b[ADDRESS_ROOM];
	unsigned long long found;
	unsigned state;

	if (strcmp(kind, "unix") == 0)
		return parse_unix(line, inode, to, size);
	if (sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %*u %*u %llu", local, remote, &state,
		    &found) != 4 ||
		found != inode || parse_address(local, a, sizeof(a)) ||
		parse_address(remote, b, sizeof(b)))
		return -1;
	if (strcmp(b, "*") == 0)
		snprintf(to, size, "%.3s %s", kind, a);
	else
		snprintf(to, size, "%.3s %s to %s", kind, a, b);
	return 0;
}

static int seek_peer(pid_t pid, const char *kind, uint64_t inode, char *to, size_t size)
{
	char path[48], line[512];
	int rc = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, kind);
	f = fopen(path, "re");
	for (unsigned n = 0; f && rc && n < LINES_MOST && fgets(line, sizeof(line), f); n++)
		rc = descriptors_parse(kind, line, inode, to, size);
	if (f)
		fclose(f);
	return rc;
}

static void name_socket(struct descriptors *d, pid_t pid, uint64_t inode, char *to, size_t size)
{
	static const char *const kinds[] = {"unix", "tcp", "tcp6", "udp", "udp6"};

	for (size_t i = 0; d->nodes.count < PEERS_MOST && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (seek_peer(pid, kinds[i], inode, to, size) == 0) {
			/* Of several without names, each is one. */
			if (strcmp(to, "unix") == 0)
				snprintf(to, size, "unix socket %u", ++d->unnamed);
			return;
		}
	snprintf(to, size, "socket");
}

/* ---- what a link says ---- */

/* The name of a pipe or socket, once found. */
static char *descriptors_node(struct descriptors *d, pid_t pid, uint64_t inode, bool socket)
{
	struct node key = {.key = {inode}}, *node = table_add(&d->nodes, &key.key);
	char text[256];

	if (!node)
		return NULL;
	if (!node->name) {
		if (socket)
			name_socket(d, pid, inode, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "pipe %u", ++d->pipes);
		node->name = strdup(text);
	}
	return node->name ? strdup(node->name) : NULL;
}

/* A named pipe is a file by its link only. */
static enum experiment_pause_reason kind_of_path(const char *link, const char *path)
{
	struct stat st;

	if (strncmp(path, "/dev/pts/", 9) == 0 || strncmp(path, "/dev/tty", 8) == 0)
		return PAUSE_TERMINAL;
	return stat(link, &st) == 0 && S_ISFIFO(st.st_mode) ? PAUSE_PIPE : PAUSE_FILE;
}

/* Sets reason and name; false: memory is out. */
static bool descriptors_look(struct descriptors *d, struct descriptor *to)
{
	char link[48], text[4096];
	unsigned long long inode;
	ssize_t n;

	free(to->name);
	to->name = NULL;
	to->reason = PAUSE_UNKNOWN;
	snprintf(link, sizeof(link), "/proc/%u/fd/%d", to->key.pid, (int)to->key.number);
	n = readlink(link, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	if (n <= 0) {
		snprintf(text, sizeof(text), "descriptor %d, closed since", (int)to->key.number);
		to->name = strdup(text);
	} else if (sscanf(text, "pipe:[%llu]", &inode) == 1) {
		to->reason = PAUSE_PIPE;
		to->name = descriptors_node(d, (pid_t)to->key.pid, inode, false);
	} else if (sscanf(text, "socket:[%llu]", &inode) == 1) {
		to->reason = PAUSE_SOCKET;
		to->name = descriptors_node(d, (pid_t)to->key.pid, inode, true);
	} else if (strncmp(text, "anon_inode:", 11) == 0) {
		to->reason = PAUSE_EVENT;
		snprintf(link, sizeof(link), "%.24s %d", text + 11 + strspn(text + 11, "["),
			(int)to->key.number);
		for (char *at = link; (at = strchr(at, ']'));)
			memmove(at, at + 1, strlen(at));
		to->name = strdup(link);
	} else {
		to->reason = kind_of_path(link, text);
		to->name = strdup(text);
	}
	return to->name != NULL;
}

const struct descriptor *descriptors_find(struct descriptors *d, pid_t pid, int number)
{
	struct descriptor key = {.key = {(uint32_t)pid, number}},
			  *found = table_add(&d->known, &key.key);

	if (!found)
		return NULL;
	if (found->name && (found->round == d->round || d->looks >= LOOKS_MOST))
		return found;
	d->looks++;
	found->round = d->round;
	return descriptors_look(d, found) ? found : NULL;
}
