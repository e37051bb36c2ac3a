/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds experiment files up on the ranks of an MPI program: prof -merge becomes this program when
 * mpirun starts it.
 *
 *     prof-merge-mpi [-threads] -o SUM file ...
 *
 * Each rank adds up every N-th file. Then sums go up a tree: in step k, ranks that are odd
 * multiples of 2^k send theirs to the rank 2^k below, and have done their part. Sums are exact and
 * do not depend on any order, so rank 0 writes the bytes that one process would write. A rank that
 * fails sends its error instead, and nothing is written.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "experiment/merge.h"
#include "load/load.h"

#define PIECE ((uint64_t)1 << 30) /* of a message: its length is an int */

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

static void part_fail(struct mpi_part *p, const struct error *e)
{
	if (p->has)
		experiment_fini(&p->sum);
	p->has = false;
	p->head.failed = 1;
	snprintf(p->head.text, sizeof(p->head.text), "%s%s%s", e->message, *e->hint ? ": " : "",
		e->hint);
}

/* The files of this rank. */
static void part_read(struct mpi_part *p, const struct arguments *a, int rank, int ranks)
{
	struct experiment_merge_report report = {0};
	path_list own = {0};
	struct error e = {0};
	int rc = 0;

	for (size_t i = (size_t)rank; i < a->paths.count && rc == 0; i += (size_t)ranks) {
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

static void part_send(struct mpi_part *p, int to)
{
	struct strbuf bytes = {0};
	struct error e = {0};

	if (p->has && experiment_encode(&p->sum, &bytes, &e))
		part_fail(p, &e);
	p->head.bytes = p->has ? bytes.length : 0;
	MPI_Send(&p->head, sizeof(p->head), MPI_BYTE, to, 0, MPI_COMM_WORLD);
	for (uint64_t at = 0; at < p->head.bytes; at += PIECE)
		MPI_Send(bytes.data + at,
			(int)(p->head.bytes - at < PIECE ? p->head.bytes - at : PIECE), MPI_BYTE,
			to, 0, MPI_COMM_WORLD);
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
static void part_receive(struct mpi_part *p, int from)
{
	struct mpi_head head;
	struct error e = {0};
	char *bytes;

	MPI_Recv(&head, sizeof(head), MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	bytes = malloc(head.bytes + 1);
	if (!bytes) {
		say("out of memory");
		MPI_Abort(MPI_COMM_WORLD, EXIT_OURS);
		return;
	}
	for (uint64_t at = 0; at < head.bytes; at += PIECE)
		MPI_Recv(bytes + at, (int)(head.bytes - at < PIECE ? head.bytes - at : PIECE),
			MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	head.text[sizeof(head.text) - 1] = '\0';
	if (!p->head.failed && part_add(p, &head, bytes, &e))
		part_fail(p, &e);
	else if (!p->head.failed && head.damaged && !p->head.damaged)
		memcpy(p->head.text, head.text, sizeof(head.text));
	p->head.damaged += head.failed ? 0 : head.damaged;
	free(bytes);
}

/* At rank 0 the sum of all is left. */
static void part_join(struct mpi_part *p, int rank, int ranks)
{
	for (int step = 1; step < ranks; step *= 2) {
		if (rank & step) {
			part_send(p, rank - step);
			return;
		}
		if (rank + step < ranks)
			part_receive(p, rank + step);
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

int main(int argc, char **argv)
{
	struct mpi_part part = {.has = false};
	struct arguments arguments = {0};
	int rank, ranks, status = 0, first = 1;
	struct error e = {0};
	const char *output;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > first && strcmp(argv[first], "-threads") == 0) {
		part.flags = MERGE_THREADS;
		first++;
	}
	if (argc < first + 3 || strcmp(argv[first], "-o") != 0) {
		say("usage: prof-merge-mpi [-threads] -o SUM file ...");
		MPI_Abort(MPI_COMM_WORLD, EXIT_OURS);
		return EXIT_OURS;
	}
	output = argv[first + 1];
	if (arguments_find(&arguments, argv + first + 2, &e))
		part_fail(&part, &e);
	else
		part_read(&part, &arguments, rank, ranks);
	part_join(&part, rank, ranks);
	if (rank == 0)
		status = part_write(&part, output);
	if (part.has)
		experiment_fini(&part.sum);
	arguments_fini(&arguments);
	MPI_Finalize();
	return status;
}
