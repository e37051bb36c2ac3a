/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run executed, by kind of instruction: exact counts (ssrun -ideal) by what the code at
 * their addresses is.  Each address is decoded once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "explain/code.h"
#include "isa/isa.h"
#include "profile/entities.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

enum { USUAL_ROWS = 40, MNEMONICS = 4096, SIZES = 8, LENGTHS = INSN_LENGTH_MAX + 1 };

enum branch_row {
	BRANCH_CONDITIONAL,
	BRANCH_TAKEN,
	BRANCH_JUMP,
	BRANCH_INDIRECT_JUMP,
	BRANCH_CALL,
	BRANCH_INDIRECT_CALL,
	BRANCH_RETURN,
	BRANCH_ROWS
};

static const char *const branch_names[BRANCH_ROWS] = {"conditional branches",
	"conditional branches taken", "direct jumps", "indirect jumps", "direct calls",
	"indirect calls", "returns"};

enum operand_row {
	OPERAND_STACK,
	OPERAND_ABSOLUTE,
	OPERAND_THREAD,
	OPERAND_BASE,
	OPERAND_DISPLACEMENT,
	OPERAND_INDEX,
	OPERAND_INDEX_DISPLACEMENT,
	OPERAND_ROWS
};

static const char *const operand_names[OPERAND_ROWS] = {"on the stack (push, pop, call, %rsp)",
	"at a constant address", "in the thread's own data (%fs, %gs)", "base",
	"base + displacement", "base + index", "base + index + displacement"};

static const char *const width_names[] = {
	"scalar, or none of one width", "128 bits", "256 bits", "512 bits"};

struct mix {
	enum isa_machine machine;
	uint64_t all, other; /* executions; of what could not be decoded */
	uint64_t bytes;      /* of code, executed */
	uint64_t classes[INSN_CLASSES], plain;
	uint64_t mnemonics[MNEMONICS];
	uint64_t reads[REG_COUNT], writes[REG_COUNT];
	uint64_t branches[BRANCH_ROWS], ended; /* all that may go elsewhere */
	uint64_t loads[OPERAND_ROWS], stores[OPERAND_ROWS];
	uint64_t load_sizes[SIZES], store_sizes[SIZES]; /* by log2 of bytes */
	uint64_t widths[4], fp_widths[4];
	uint64_t lengths[LENGTHS];
	bool edges;
	enum label label;
};

struct archinfo {
	struct prof_data *d;
	struct prof_table *t;
	struct mix *mix;
	struct table taken; /* struct taken */
	long count, average, section;
};

struct taken { /* table entry */
	struct {
		uint64_t from;
		uint32_t image, reserved;
	} key;
	uint64_t count;
};

static int take_edges(struct archinfo *a)
{
	const struct prof_data *d = a->d;

	a->taken = (struct table){
		.entry_size = sizeof(struct taken), .key_size = sizeof(((struct taken *)0)->key)};
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->edges.count; k++) {
			const struct experiment_edge *edge = table_at(&x->edges, k);
			struct taken key = {.key = {.from = edge->key.from}}, *own;

			a->mix->edges = true;
			if (!edge->key.taken || edge->key.from_image >= x->images.count)
				continue;
			key.key.image = d->image_of.data[i][edge->key.from_image];
			own = table_add(&a->taken, &key.key);
			if (!own)
				return -1;
			own->count += edge->count;
		}
	}
	return 0;
}

static enum branch_row branch_row(const struct insn *insn)
{
	bool indirect = insn->classes & INSN_INDIRECT;

	if (insn->classes & INSN_CONDITIONAL)
		return BRANCH_CONDITIONAL;
	if (insn->classes & INSN_RETURN)
		return BRANCH_RETURN;
	if (insn->classes & INSN_CALL)
		return indirect ? BRANCH_INDIRECT_CALL : BRANCH_CALL;
	return indirect ? BRANCH_INDIRECT_JUMP : BRANCH_JUMP;
}

static enum operand_row operand_row(const struct insn *insn, const struct insn_memory *m)
{
	if (m->segment)
		return OPERAND_THREAD;
	if (m->absolute)
		return OPERAND_ABSOLUTE;
	if (m->base == REG_RSP || (insn->classes & INSN_STACK && m->writes && m->base == REG_NONE))
		return OPERAND_STACK;
	if (m->index != REG_NONE)
		return m->displacement ? OPERAND_INDEX_DISPLACEMENT : OPERAND_INDEX;
	return m->displacement ? OPERAND_DISPLACEMENT : OPERAND_BASE;
}

static unsigned log2_of(uint32_t size)
{
	unsigned n = 0;

	while (size > 1 && n + 1 < SIZES) {
		size >>= 1;
		n++;
	}
	return n;
}

static void add_operands(struct mix *m, const struct insn *insn, uint64_t n)
{
	for (unsigned i = 0; i < insn->memories; i++) {
		const struct insn_memory *o = &insn->memory[i];
		enum operand_row row = operand_row(insn, o);

		if (o->reads) {
			m->loads[row] += n;
			m->load_sizes[log2_of(o->size)] += n;
		}
		if (o->writes) {
			m->stores[row] += n;
			m->store_sizes[log2_of(o->size)] += n;
		}
	}
	for (unsigned reg = 0; reg < REG_COUNT; reg++) {
		m->reads[reg] += insn_registers_have(&insn->reads, reg) ? n : 0;
		m->writes[reg] += insn_registers_have(&insn->writes, reg) ? n : 0;
	}
}

static void add_insn(struct archinfo *a, uint32_t image, const struct insn *insn, uint64_t n)
{
	struct mix *m = a->mix;
	unsigned width = insn->vector_bits >= 512   ? 3
			 : insn->vector_bits >= 256 ? 2
			 : insn->vector_bits >= 128 ? 1
						    : 0;

	m->bytes += n * insn->length;
	m->lengths[insn->length < LENGTHS ? insn->length : LENGTHS - 1] += n;
	m->plain += insn->classes ? 0 : n;
	m->mnemonics[insn->mnemonic % MNEMONICS] += n;
	for (unsigned bit = 0; bit < INSN_CLASSES; bit++)
		m->classes[bit] += insn->classes >> bit & 1 ? n : 0;
	if (insn->classes & INSN_VECTOR)
		*(insn->classes & INSN_FP ? &m->fp_widths[width] : &m->widths[width]) += n;
	if (insn->classes & INSN_BRANCH) {
		struct taken key = {.key = {.from = insn->address, .image = image}};
		const struct taken *taken = table_find(&a->taken, &key.key);

		m->branches[branch_row(insn)] += n;
		m->ended += n;
		if (insn->classes & INSN_CONDITIONAL && taken)
			m->branches[BRANCH_TAKEN] += taken->count;
	}
	add_operands(m, insn, n);
}

static void add_place(struct archinfo *a, size_t place, uint64_t n)
{
	const struct prof_names *names = &a->d->names;
	const struct prof_place *p = prof_place_at(a->d, place);
	uint8_t bytes[INSN_LENGTH_MAX];
	struct insn insn;
	enum isa_machine machine = prof_machine(a->d, p->key.image);
	size_t size = 0;

	if (machine != ISA_NONE)
		size = names->ops->code(
			names->context, p->key.image, p->key.address, bytes, sizeof(bytes));
	a->mix->all += n;
	if (machine == ISA_NONE || (a->mix->machine != ISA_NONE && a->mix->machine != machine) ||
		!isa_decode(machine, bytes, size, p->key.address, &insn) ||
		insn.classes & INSN_BAD) {
		a->mix->other += n;
		return;
	}
	a->mix->machine = machine;
	add_insn(a, p->key.image, &insn, n);
}

/* False: nothing was counted exactly. */
static bool add_all(struct archinfo *a)
{
	const struct prof_data *d = a->d;
	size_t metrics = d->metrics.count;
	bool any = false;

	for (size_t k = 0; k < metrics; k++) {
		if (!(d->metrics.data[k].metric->flags & METRIC_EXACT) ||
			!prof_counts_instructions(&d->metrics.data[k]))
			continue;
		any = true;
		a->mix->label = d->metrics.data[k].metric->label;
		for (size_t i = 0; i < d->places.count; i++) {
			uint64_t n = d->counts.data[i * metrics + k];

			if (n && prof_wanted(
					 d, prof_place_at(d, i)->key.image, d->name[i].procedure))
				add_place(a, i, n);
		}
	}
	return any;
}

static int head(struct archinfo *a, const char *text)
{
	struct prof_row row = {.role = PROF_HEAD, .procedure = text, .parent = -1};
	long at = prof_row_add(a->t, &row);

	if (at < 0)
		return -1;
	for (size_t i = 0; i < a->t->columns.count; i++)
		prof_cells(a->t, (size_t)at)[i].percent = NAN;
	return 0;
}

/* n of `whole`; rows that would be 0 are left out. */
static int add_row(
	struct archinfo *a, const char *section, const char *name, uint64_t n, uint64_t whole)
{
	struct prof_row row = {.role = PROF_ROW, .parent = -1, .text = name};
	struct prof_cell *cells;
	long at;

	if (!n)
		return 0;
	at = prof_row_add(a->t, &row);
	if (at < 0)
		return -1;
	cells = prof_cells(a->t, (size_t)at);
	cells[a->count].quantity = quantity_exact((double)n, a->mix->label);
	cells[a->count].percent = whole ? 100 * (double)n / (double)whole : NAN;
	cells[a->count].cumulative = NAN;
	cells[a->section].text = section;
	return 0;
}

struct named {
	const char *name;
	uint64_t n;
};

static int by_count(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Those that have a name, the most frequent first, as far as -q goes; the rest as one row. */
static int add_sorted(struct archinfo *a, const char *section, struct named *list, size_t count)
{
	struct prof_quit quit = a->d->request->quit;
	double before = 0;
	uint64_t rest = 0;

	if (!quit.rows && !(quit.percent > 0) && !(quit.cumulative > 0))
		quit.rows = USUAL_ROWS;
	if (count)
		qsort(list, count, sizeof(*list), by_count);
	for (size_t i = 0; i < count && list[i].n; i++) {
		double percent = 100 * (double)list[i].n / (double)a->mix->all;

		if (rest || prof_quits(&quit, i, percent, before))
			rest += list[i].n;
		else if (add_row(a, section, list[i].name, list[i].n, a->mix->all))
			return -1;
		before += percent;
	}
	return add_row(a, section, "(others)", rest, a->mix->all);
}

static int classes_section(struct archinfo *a)
{
	struct named list[INSN_CLASSES + 1];

	for (unsigned i = 0; i < INSN_CLASSES; i++)
		list[i] = (struct named){isa_class_name(i), a->mix->classes[i]};
	list[INSN_CLASSES] = (struct named){"plain integer, register to register", a->mix->plain};
	qsort(list, INSN_CLASSES + 1, sizeof(*list), by_count);
	if (head(a, "Instructions by kind (one may be of several)"))
		return -1;
	for (unsigned i = 0; i <= INSN_CLASSES; i++)
		if (add_row(a, "kind", list[i].name, list[i].n, a->mix->all))
			return -1;
	return 0;
}

static int mnemonics_section(struct archinfo *a)
{
	struct named *list = calloc(MNEMONICS, sizeof(*list));
	int rc;

	if (!list)
		return -1;
	for (unsigned i = 0; i < MNEMONICS; i++)
		list[i] = (struct named){isa_mnemonic(a->mix->machine, i), a->mix->mnemonics[i]};
	rc = head(a, "Instructions by name") || add_sorted(a, "name", list, MNEMONICS) ? -1 : 0;
	free(list);
	return rc;
}

static int registers_section(
	struct archinfo *a, const char *title, const char *section, const uint64_t *counts)
{
	struct named list[REG_COUNT];
	size_t count = 0;

	for (unsigned i = 0; i < REG_COUNT; i++)
		if (counts[i] && isa_register_name(a->mix->machine, i))
			list[count++] =
				(struct named){isa_register_name(a->mix->machine, i), counts[i]};
	if (!count)
		return 0;
	return head(a, title) || add_sorted(a, section, list, count) ? -1 : 0;
}

static int fixed_section(struct archinfo *a, const char *title, const char *section,
	const char *const *names, const uint64_t *counts, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += counts[i];
	if (!all)
		return 0;
	if (head(a, title))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add_row(a, section, names[i], counts[i], all))
			return -1;
	return 0;
}

static int branches_section(struct archinfo *a)
{
	const uint64_t *b = a->mix->branches;

	if (!a->mix->ended)
		return 0;
	if (head(a, "Branches (those taken: of the conditional ones; others: of all branches)"))
		return -1;
	for (unsigned i = 0; i < BRANCH_ROWS; i++)
		if (add_row(a, "branch", branch_names[i], b[i],
			    i == BRANCH_TAKEN ? b[BRANCH_CONDITIONAL] : a->mix->ended))
			return -1;
	return 0;
}

static int sizes_section(
	struct archinfo *a, const char *title, const char *section, const uint64_t *counts)
{
	static const char *const names[SIZES] = {"1 byte", "2 bytes", "4 bytes", "8 bytes",
		"16 bytes", "32 bytes", "64 bytes", "more"};

	return fixed_section(a, title, section, names, counts, SIZES);
}

static int average(struct archinfo *a, const char *name, uint64_t over, uint64_t under)
{
	struct prof_row row = {.role = PROF_ROW, .parent = -1, .text = name};
	struct prof_cell *cells;
	long at;

	if (!under)
		return 0;
	at = prof_row_add(a->t, &row);
	if (at < 0)
		return -1;
	cells = prof_cells(a->t, (size_t)at);
	cells[a->average].quantity = quantity_exact((double)over / (double)under, a->mix->label);
	cells[a->count].percent = cells[a->average].percent = NAN;
	cells[a->section].text = "average";
	return 0;
}

static int averages_section(struct archinfo *a)
{
	const struct mix *m = a->mix;
	uint64_t decoded = m->all - m->other;
	uint64_t taken = m->ended - m->branches[BRANCH_CONDITIONAL] + m->branches[BRANCH_TAKEN];

	return head(a, "Averages") || average(a, "bytes an instruction", m->bytes, decoded) ||
			       average(a, "instructions a block (between branches)", decoded,
				       m->ended) ||
			       average(a, "instructions between taken branches", decoded,
				       m->edges ? taken : 0)
		       ? -1
		       : 0;
}

static int all_sections(struct archinfo *a)
{
	const struct mix *m = a->mix;

	return classes_section(a) || mnemonics_section(a) || branches_section(a) ||
			       fixed_section(a, "Loads by operand", "load", operand_names, m->loads,
				       OPERAND_ROWS) ||
			       fixed_section(a, "Stores by operand", "store", operand_names,
				       m->stores, OPERAND_ROWS) ||
			       sizes_section(a, "Loads by size", "load size", m->load_sizes) ||
			       sizes_section(a, "Stores by size", "store size", m->store_sizes) ||
			       fixed_section(a, "Floating-point arithmetic by width", "fp width",
				       width_names, m->fp_widths, 4) ||
			       fixed_section(a, "Other vector instructions by width",
				       "vector width", width_names, m->widths, 4) ||
			       registers_section(a, "Registers read", "register read", m->reads) ||
			       registers_section(
				       a, "Registers written", "register written", m->writes)
		       ? -1
		       : 0;
}

static int notes(struct archinfo *a)
{
	if (a->mix->other &&
		prof_note(a->t, "%llu instruction%s (%.2f%%) %s of code that cannot be had or read",
			(unsigned long long)a->mix->other, plural(a->mix->other),
			100 * (double)a->mix->other / (double)a->mix->all,
			plural_is(a->mix->other)))
		return -1;
	if (!a->mix->edges &&
		prof_note(a->t, "The experiment holds no edges: how many branches were taken is "
				"not known"))
		return -1;
	return 0;
}

static int make(struct archinfo *a, struct error *e)
{
	struct prof_column count = {.kind = PROF_COUNT,
		.flags = PROF_PERCENT | PROF_EXACT,
		.name = "instructions",
		.unit = "instructions",
		.experiment = 0};
	struct prof_column section = {
		.kind = PROF_TEXT, .flags = PROF_SCRIPTS, .name = "section", .experiment = -1};
	struct prof_column average = {
		.kind = PROF_RATIO, .name = "average", .unit = "", .experiment = -1};

	section.unit = "";
	if (take_edges(a))
		return error_nomem(e);
	if (!add_all(a)) {
		error_set(e, ERR_NOT_FOUND, "no experiment here counted instructions exactly");
		return error_hint(e, "ssrun -ideal does");
	}
	count.label = a->mix->label;
	a->count = prof_column_add(a->t, &count);
	average.label = a->mix->label;
	a->average = prof_column_add(a->t, &average);
	a->section = prof_column_add(a->t, &section);
	if (a->count < 0 || a->average < 0 || a->section < 0 || averages_section(a) ||
		all_sections(a) || notes(a))
		return error_nomem(e);
	return 0;
}

int prof_archinfo(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct archinfo a = {.d = d, .t = t};
	int rc;

	t->report = "archinfo";
	t->layout = PROF_CODE;
	t->title = "What was executed";
	a.mix = calloc(1, sizeof(*a.mix));
	if (!a.mix)
		return error_nomem(e);
	rc = prof_data_name(d, false, e);
	if (rc == 0 && prof_describe(t, d, e))
		rc = -1;
	if (rc == 0)
		rc = make(&a, e);
	if (rc == 0)
		rc = prof_coverage(t, d, e);
	table_fini(&a.taken);
	free(a.mix);
	return rc;
}
