/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_http.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/numeral.h"
#include "base/openmetrics.h"

unsigned monitor_http_seconds(const char *text)
{
	uint64_t n;

	if (!text)
		return HTTP_SECONDS;
	return numeral_whole(text, 0, HTTP_SECONDS_MAX, &n) ? (unsigned)n : 0;
}

#ifdef HTTP_LIBRARY
#include <microhttpd.h>

#define IDLE_SECONDS 10
#define MEMORY       (32 << 10) /* bytes of a connection: its request must fit */

struct monitor_http {
	struct MHD_Daemon *daemon;
	char address[96];
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct strbuf metrics;
	enum { IDLE, ASKED, RECORDING, READY } profile;
	bool unwanted; /* the client that requested it is gone */
	unsigned seconds;
	uint64_t until; /* clock_ns */
	struct experiment recorded;
	bool closing;
};

/* The library's functions. It is loaded when a Monitor is to listen: with its own libraries for TLS
 * it would take a third of the time of a short ssrun. It is never unloaded. */
#define HTTP_CALLS(_)                                                                              \
	_(add_response_header)                                                                     \
	_(create_response_from_buffer)                                                             \
	_(destroy_response)                                                                        \
	_(get_connection_info)                                                                     \
	_(get_daemon_info)                                                                         \
	_(get_version)                                                                             \
	_(lookup_connection_value)                                                                 \
	_(queue_response)                                                                          \
	_(start_daemon)                                                                            \
	_(stop_daemon)

#define HTTP_CALL(name) __typeof__(MHD_##name) *name;
static struct {
	HTTP_CALLS(HTTP_CALL)
} mhd;

/* dlsym returns object pointers; POSIX permits their conversion to functions. */
static void *http_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

/* false: it is not installed, or lacks one. */
static bool http_load(void)
{
	void *library = dlopen(HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool found = library != NULL;

#define HTTP_FIND(name)                                                                            \
	mhd.name = found ? (__typeof__(mhd.name))http_symbol(library, "MHD_" #name) : NULL;        \
	found = mhd.name != NULL;
	HTTP_CALLS(HTTP_FIND)
	return found;
}

const char *monitor_http_library(void)
{
	static char text[48];

	if (http_load())
		snprintf(text, sizeof(text), "libmicrohttpd %s", mhd.get_version());
	return text;
}

/* ---- threads of connections ---- */

static enum MHD_Result http_send(
	struct MHD_Connection *c, unsigned status, const char *type, const void *bytes, size_t size)
{
	struct MHD_Response *r = mhd.create_response_from_buffer(
		size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc = MHD_NO;

	if (r && mhd.add_response_header(r, "Content-Type", type) == MHD_YES &&
		mhd.add_response_header(r, "X-Content-Type-Options", "nosniff") == MHD_YES &&
		(status != 405 || mhd.add_response_header(r, "Allow", "GET") == MHD_YES))
		rc = mhd.queue_response(c, status, r);
	if (r)
		mhd.destroy_response(r);
	return rc;
}

static enum MHD_Result http_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	return http_send(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result http_metrics(struct monitor_http *h, struct MHD_Connection *c)
{
	struct strbuf text = {0};
	enum MHD_Result rc;

	pthread_mutex_lock(&h->lock);
	strbuf_add(&text, strbuf_text(&h->metrics), h->metrics.length);
	pthread_mutex_unlock(&h->lock);
	rc = text.failed ? MHD_NO
			 : http_send(c, 200, OPENMETRICS_TYPE, strbuf_text(&text), text.length);
	strbuf_fini(&text);
	return rc;
}

/* Whether the client has closed its end. */
static bool http_gone(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd p = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* For a change, or a second. */
static void http_wait(struct monitor_http *h)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	pthread_cond_timedwait(&h->changed, &h->lock, &end);
}

/* Waits for the recording: 0, and it is the caller's; -1: another one is being made, none can be,
 * or the client is gone.
 */
static int http_record(
	struct monitor_http *h, struct MHD_Connection *c, unsigned seconds, struct experiment *x)
{
	int rc = -1;

	pthread_mutex_lock(&h->lock);
	if (h->profile == IDLE && !h->closing) {
		h->profile = ASKED;
		h->seconds = seconds;
		h->unwanted = false;
		while (h->profile != READY && !h->closing && !h->unwanted) {
			http_wait(h);
			h->unwanted = h->profile != READY && http_gone(c);
		}
		if (h->profile == READY) {
			*x = h->recorded;
			h->profile = IDLE;
			rc = 0;
		}
	}
	pthread_mutex_unlock(&h->lock);
	return rc;
}

static enum MHD_Result http_profile(struct monitor_http *h, struct MHD_Connection *c)
{
	unsigned seconds = monitor_http_seconds(
		mhd.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds"));
	struct strbuf bytes = {0};
	struct experiment x;
	struct error e;
	enum MHD_Result rc;

	if (!seconds)
		return http_text(c, 400, "seconds: a whole number from 1 to 300\n");
	if (http_record(h, c, seconds, &x))
		return http_text(c, 503, "another profile is being recorded: ask again later\n");
	if (monitor_pprof(&x, &bytes, &e))
		rc = http_text(c, 500, "the profile could not be written\n");
	else
		rc = http_send(
			c, 200, "application/octet-stream", strbuf_text(&bytes), bytes.length);
	experiment_fini(&x);
	strbuf_fini(&bytes);
	return rc;
}

static enum MHD_Result http_answer(void *context, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **state)
{
	struct monitor_http *h = context;
	static int begun;

	(void)version;
	(void)data;
	if (strcmp(method, "GET") != 0)
		return http_text(c, 405, "only GET\n");
	if (!*state) { /* of a request that has a body, more calls follow */
		*state = &begun;
		return MHD_YES;
	}
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics") == 0)
		return http_metrics(h, c);
	if (strcmp(url, "/debug/pprof/profile") == 0)
		return http_profile(h, c);
	return http_text(c, 404, "/metrics, or /debug/pprof/profile?seconds=N\n");
}

/* ---- the Monitor's thread ---- */

/* getaddrinfo takes larger numbers, and leaves out what does not fit. */
static bool http_is_port(const char *text)
{
	char *end;

	return *text >= '0' && *text <= '9' && strtoul(text, &end, 10) <= UINT16_MAX && !*end;
}

/* Splits "[ADDRESS]:PORT"; -1: it is no such thing. */
static int http_split(const char *text, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;

	*port = colon ? colon + 1 : text;
	snprintf(host, size, "127.0.0.1");
	if (colon && text[0] == '[') {
		if (n < 2 || text[n - 1] != ']')
			return -1;
		text++;
		n -= 2;
	} else if (colon && memchr(text, ':', n)) {
		return -1; /* IPv6 needs brackets */
	}
	if (colon && (n == 0 || n >= size))
		return -1;
	if (colon)
		snprintf(host, size, "%.*s", (int)n, text);
	return http_is_port(*port) ? 0 : -1;
}

static struct addrinfo *http_resolve(const char *text, char *host, size_t size, struct error *e)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	const char *port;

	if (http_split(text, host, size, &port) == 0 && getaddrinfo(host, port, &hints, &list) == 0)
		return list;
	error_set(e, ERR_PARSE, "-listen: '%s' is not PORT, ADDRESS:PORT or [ADDRESS]:PORT", text);
	error_hint(e, "addresses are numbers, such as 127.0.0.1; 0.0.0.0 is for all networks");
	return NULL;
}

struct monitor_http *monitor_http_new(const char *address, struct error *e)
{
	const union MHD_DaemonInfo *info;
	struct monitor_http *h;
	struct addrinfo *where;
	char host[64];

	if (!http_load()) {
		error_set(e, ERR_UNSUPPORTED, "-listen: " HTTP_LIBRARY " is not installed");
		error_hint(e, "on Debian and Ubuntu, the package libmicrohttpd12 has it");
		return NULL;
	}
	h = calloc(1, sizeof(*h));
	where = h ? http_resolve(address, host, sizeof(host), e) : NULL;
	if (!where) {
		if (!h)
			error_nomem(e);
		free(h);
		return NULL;
	}
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	h->daemon = mhd.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD |
					     MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
					     (where->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0),
		0, NULL, NULL, http_answer, h, MHD_OPTION_SOCK_ADDR, where->ai_addr,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)1 << 20, MHD_OPTION_END);
	freeaddrinfo(where);
	if (!h->daemon) {
		error_sys(e, errno ? errno : EADDRINUSE, "cannot listen on %s", address);
		monitor_http_free(h);
		return NULL;
	}
	info = mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(h->address, sizeof(h->address), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
		info ? (unsigned)info->port : 0);
	return h;
}

const char *monitor_http_address(const struct monitor_http *h)
{
	return h->address;
}

static int http_recording(struct monitor_http *h, struct watch *w, uint64_t now)
{
	if (h->unwanted && h->profile != READY) {
		if (h->profile == RECORDING) {
			monitor_watch_recorded(w, &h->recorded);
			experiment_fini(&h->recorded);
		}
		h->profile = IDLE;
		h->unwanted = false;
	} else if (h->profile == ASKED) {
		if (monitor_watch_record(w))
			return -1;
		h->profile = RECORDING;
		h->until = now + (uint64_t)h->seconds * SECOND;
	} else if (h->profile == RECORDING && now >= h->until) {
		monitor_watch_recorded(w, &h->recorded);
		h->recorded.elapsed = now - h->until + (uint64_t)h->seconds * SECOND;
		h->profile = READY;
		pthread_cond_broadcast(&h->changed);
	}
	return 0;
}

int monitor_http_round(
	struct monitor_http *h, const struct monitor_status *status, struct watch *w, uint64_t now)
{
	struct strbuf text = {0}, old;
	int rc;

	monitor_status_metrics(status, true, &text);
	pthread_mutex_lock(&h->lock);
	old = h->metrics;
	h->metrics = text;
	rc = http_recording(h, w, now);
	pthread_mutex_unlock(&h->lock);
	strbuf_fini(&old);
	return rc || text.failed ? -1 : 0;
}

void monitor_http_free(struct monitor_http *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->closing = true;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
	if (h->daemon)
		mhd.stop_daemon(h->daemon);
	if (h->profile == READY)
		experiment_fini(&h->recorded);
	strbuf_fini(&h->metrics);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

#else

const char *monitor_http_library(void)
{
	return "";
}

struct monitor_http *monitor_http_new(const char *address, struct error *e)
{
	(void)address;
	error_set(e, ERR_UNSUPPORTED, "-listen: this program was built without libmicrohttpd");
	error_hint(e, "install libmicrohttpd-dev and build it again");
	return NULL;
}

const char *monitor_http_address(const struct monitor_http *h)
{
	(void)h;
	return "";
}

int monitor_http_round(
	struct monitor_http *h, const struct monitor_status *status, struct watch *w, uint64_t now)
{
	(void)h;
	(void)status;
	(void)w;
	(void)now;
	return 0;
}

void monitor_http_free(struct monitor_http *h)
{
	(void)h;
}
#endif
