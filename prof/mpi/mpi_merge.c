/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds experiment files up on the ranks of an MPI program: prof -merge becomes this program when
 * mpirun starts it.
 *
 *     prof-merge-mpi [-threads] -o SUM file ...
 *
 * A process reads files on all processors that it may use, so a second rank on the same processors
 * could only get in the way of the first: of such ranks, the lowest reads, and the others wait
 * without using a processor. PERFEX_RANKS=all: all of them read.
 *
 * Of N readers, each adds up every N-th file. Then sums go up a tree: in step k, readers that are
 * odd multiples of 2^k send theirs to the one 2^k below, and have done their part. Sums are exact
 * and do not depend on any order, so rank 0 writes the bytes that one process would write. A rank
 * that fails sends its error instead, and nothing is written.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/say.h"
#include "experiment/merge.h"
#include "load/load.h"

#define PIECE   ((uint64_t)1 << 30) /* of a message: its length is an int */
#define LOOK_NS 1000000             /* how often a rank that waits looks: MPI's own waits spin */

/* Those that read files, numbered from 0. */
struct readers {
	MPI_Comm comm; /* MPI_COMM_NULL: this rank is none of them */
	int rank, count;
};

struct mpi_head {
	uint64_t bytes, damaged;
	int32_t failed;
	char text[1100]; /* the error, or the first damage */
};

struct mpi_part {
	struct experiment sum;
	struct mpi_head head;
	unsigned flags;
	bool has; /* sum is valid */
};

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

/* May this rank use processors that no lower rank of its node uses? */
static bool has_processors(void)
{
	MPI_Comm node;
	cpu_set_t own, both, *all;
	int rank, ranks;
	bool has = true;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &rank);
	MPI_Comm_size(node, &ranks);
	CPU_ZERO(&own);
	sched_getaffinity(0, sizeof(own), &own);
	all = calloc((size_t)ranks, sizeof(*all));
	if (!all) {
		say("out of memory");
		MPI_Abort(MPI_COMM_WORLD, EXIT_OURS);
		return false;
	}
	MPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, node);
	for (int i = 0; i < rank; i++) {
		CPU_AND(&both, &own, &all[i]);
		has &= CPU_COUNT(&both) == 0;
	}
	free(all);
	MPI_Comm_free(&node);
	return has;
}

static void readers_find(struct readers *r)
{
	const char *wanted = getenv("PERFEX_RANKS");
	bool reads = has_processors() || (wanted && strcmp(wanted, "all") == 0);

	MPI_Comm_split(MPI_COMM_WORLD, reads ? 0 : MPI_UNDEFINED, 0, &r->comm);
	if (r->comm == MPI_COMM_NULL)
		return;
	MPI_Comm_rank(r->comm, &r->rank);
	MPI_Comm_size(r->comm, &r->count);
}

/* Until all ranks have come here. */
static void wait_for_all(void)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
		rest();
}

static void part_fail(struct mpi_part *p, const struct error *e)
{
	if (p->has)
		experiment_fini(&p->sum);
	p->has = false;
	p->head.failed = 1;
	snprintf(p->head.text, sizeof(p->head.text), "%s%s%s", e->message, *e->hint ? ": " : "",
		e->hint);
}

/* The files of this reader. */
static void part_read(struct mpi_part *p, const struct arguments *a, const struct readers *r)
{
	struct experiment_merge_report report = {0};
	path_list own = {0};
	struct error e = {0};
	int rc = 0;

	for (size_t i = (size_t)r->rank; i < a->paths.count && rc == 0; i += (size_t)r->count) {
		if (load_is_perfdata(a->paths.data[i])) {
			error_set(
				&e, ERR_UNSUPPORTED, "%s is a recording of perf", a->paths.data[i]);
			rc = error_hint(&e, "add it up without mpirun");
		} else if (vec_add(&own, a->paths.data[i])) {
			rc = error_nomem(&e);
		}
	}
	if (rc == 0)
		rc = experiment_merge_files(&p->sum, (const char *const *)own.data, own.count,
			p->flags, NULL, &report, &e);
	vec_fini(&own);
	p->has = rc == 0;
	if (rc) {
		part_fail(p, &e);
		return;
	}
	p->head.damaged = report.damaged;
	snprintf(p->head.text, sizeof(p->head.text), "%s", report.first_damage);
}

static void part_send(struct mpi_part *p, MPI_Comm comm, int to)
{
	struct strbuf bytes = {0};
	struct error e = {0};

	if (p->has && experiment_encode(&p->sum, &bytes, &e))
		part_fail(p, &e);
	p->head.bytes = p->has ? bytes.length : 0;
	MPI_Send(&p->head, sizeof(p->head), MPI_BYTE, to, 0, comm);
	for (uint64_t at = 0; at < p->head.bytes; at += PIECE)
		MPI_Send(bytes.data + at,
			(int)(p->head.bytes - at < PIECE ? p->head.bytes - at : PIECE), MPI_BYTE,
			to, 0, comm);
	strbuf_fini(&bytes);
}

static int part_add(
	struct mpi_part *p, const struct mpi_head *head, const char *bytes, struct error *e)
{
	struct experiment x;
	int rc;

	if (head->failed) {
		error_set(e, ERR_SYSTEM, "%s", head->text);
		return -1;
	}
	if (experiment_parse(&x, bytes, head->bytes, NULL, e))
		return -1;
	rc = experiment_merge(&p->sum, &x, p->flags, e);
	experiment_fini(&x);
	return rc;
}

/* Of what fails, the first is kept; others' sums are received all the same. */
static void part_receive(struct mpi_part *p, MPI_Comm comm, int from)
{
	int there = 0;
	struct mpi_head head;
	struct error e = {0};
	char *bytes;

	while (MPI_Iprobe(from, 0, comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && !there)
		rest();
	MPI_Recv(&head, sizeof(head), MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
	bytes = malloc(head.bytes + 1);
	if (!bytes) {
		say("out of memory");
		MPI_Abort(MPI_COMM_WORLD, EXIT_OURS);
		return;
	}
	for (uint64_t at = 0; at < head.bytes; at += PIECE)
		MPI_Recv(bytes + at, (int)(head.bytes - at < PIECE ? head.bytes - at : PIECE),
			MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
	head.text[sizeof(head.text) - 1] = '\0';
	if (!p->head.failed && part_add(p, &head, bytes, &e))
		part_fail(p, &e);
	else if (!p->head.failed && head.damaged && !p->head.damaged)
		memcpy(p->head.text, head.text, sizeof(head.text));
	p->head.damaged += head.failed ? 0 : head.damaged;
	free(bytes);
}

/* At reader 0, which is rank 0, the sum of all is left. */
static void part_join(struct mpi_part *p, const struct readers *r)
{
	for (int step = 1; step < r->count; step *= 2) {
		if (r->rank & step) {
			part_send(p, r->comm, r->rank - step);
			return;
		}
		if (r->rank + step < r->count)
			part_receive(p, r->comm, r->rank + step);
	}
}

static int part_write(struct mpi_part *p, const char *output)
{
	struct error e = {0};

	if (p->head.failed) {
		error_set(&e, ERR_SYSTEM, "%s", p->head.text);
		return say_failure(&e);
	}
	if (experiment_settle(&p->sum, &e) || experiment_write(&p->sum, output, &e))
		return say_failure(&e);
	if (p->head.damaged)
		say("%s; what comes before is in the sum", p->head.text);
	return p->head.damaged ? EXIT_INCOMPLETE : 0;
}

/* What a reader does. */
static int part_do(const struct readers *r, unsigned flags, char *const *words, const char *output)
{
	struct mpi_part part = {.flags = flags};
	struct arguments arguments = {0};
	struct error e = {0};
	int status = 0;

	if (arguments_find(&arguments, words, &e))
		part_fail(&part, &e);
	else
		part_read(&part, &arguments, r);
	part_join(&part, r);
	if (r->rank == 0)
		status = part_write(&part, output);
	if (part.has)
		experiment_fini(&part.sum);
	arguments_fini(&arguments);
	return status;
}

int main(int argc, char **argv)
{
	struct readers readers = {.rank = -1};
	int status = 0, first = 1;
	unsigned flags = 0;

	file_limit_is_error();
	MPI_Init(&argc, &argv);
	if (argc > first && strcmp(argv[first], "-threads") == 0) {
		flags = MERGE_THREADS;
		first++;
	}
	if (argc < first + 3 || strcmp(argv[first], "-o") != 0) {
		say("usage: prof-merge-mpi [-threads] -o SUM file ...");
		MPI_Abort(MPI_COMM_WORLD, EXIT_OURS);
		return EXIT_OURS;
	}
	readers_find(&readers);
	if (readers.comm != MPI_COMM_NULL)
		status = part_do(&readers, flags, argv + first + 2, argv[first + 1]);
	wait_for_all();
	if (readers.comm != MPI_COMM_NULL)
		MPI_Comm_free(&readers.comm);
	MPI_Finalize();
	return status;
}
