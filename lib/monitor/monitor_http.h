/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Monitor serves over HTTP, read-only, for fleets: /metrics (OpenMetrics: its status), and
 * /debug/pprof/profile?seconds=N, a profile of the next N seconds. libmicrohttpd does the protocol,
 * with a thread for each connection; it is visible in monitor_http.c only. There are at most
 * HTTP_CLIENTS connections, one profile at a time, and no connection may be idle for ten seconds.
 *
 * Threads of connections see no data of the Monitor: it gives them texts and experiments in
 * monitor_http_round.
 */
#ifndef MONITOR_MONITOR_HTTP_H
#define MONITOR_MONITOR_HTTP_H

#include "monitor/monitor_status.h"
#include "monitor/monitor_watch.h"

#define HTTP_CLIENTS     8
#define HTTP_SECONDS     10 /* of a profile, if none are requested */
#define HTTP_SECONDS_MAX 300

struct monitor_http;

/* "libmicrohttpd 0.9.75"; "": it was built without. */
const char *monitor_http_library(void);
/* address: "PORT", of this machine alone (127.0.0.1), "ADDRESS:PORT" or "[ADDRESS]:PORT". NULL with
 * *e set. */
struct monitor_http *monitor_http_new(const char *address, struct error *e);
/* "127.0.0.1:9464": where it listens. */
const char *monitor_http_address(const struct monitor_http *h);
/* To be called about once a second, between records: begins and ends recordings of w. -1 when
 * memory is out. */
int monitor_http_round(
	struct monitor_http *h, const struct monitor_status *status, struct watch *w, uint64_t now);
/* Ends all connections. NULL is allowed. */
void monitor_http_free(struct monitor_http *h);

/* x in pprof's format with names of functions; x is settled by it. -1 with *e set. */
int monitor_pprof(struct experiment *x, struct strbuf *out, struct error *e);
/* The value of seconds=N: [1, HTTP_SECONDS_MAX]; NULL: HTTP_SECONDS; 0: it is none. */
unsigned monitor_http_seconds(const char *text);

#endif
