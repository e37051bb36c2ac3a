/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that a run executed, by kind: exact counts (ssrun -ideal) with the code at their
 * addresses. Each address is decoded once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "explain/code.h"
#include "isa/isa.h"
#include "profile/entities.h"
#include "report/report_columns.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 40, MNEMONICS = 4096, SIZES = 8, WIDTHS = 4 };

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

static const char *const size_names[SIZES] = {
	"1 byte", "2 bytes", "4 bytes", "8 bytes", "16 bytes", "32 bytes", "64 bytes", "more"};

static const char *const width_names[WIDTHS] = {
	"scalar, or none of one width", "128 bits", "256 bits", "512 bits"};

struct mix {
	enum isa_machine machine;
	uint64_t all, other;                /* executions; of what could not be decoded */
	uint64_t bytes;                     /* of code, executed */
	uint64_t classes[INSN_CLASSES + 1]; /* the last: of none */
	uint64_t mnemonics[MNEMONICS];
	uint64_t reads[REG_COUNT], writes[REG_COUNT];
	uint64_t branches[BRANCH_ROWS], ended; /* all that may go elsewhere */
	uint64_t loads[OPERAND_ROWS], stores[OPERAND_ROWS];
	uint64_t load_sizes[SIZES], store_sizes[SIZES]; /* by log2 of bytes */
	uint64_t widths[WIDTHS], fp_widths[WIDTHS];
	bool edges;
	enum label label;
};

enum archinfo_column { ARCHINFO_COUNT, ARCHINFO_AVERAGE, ARCHINFO_SECTION, ARCHINFO_COLUMNS };

struct archinfo {
	struct prof_data *d;
	struct report_table *t;
	struct mix *mix;
	struct table taken; /* struct taken */
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

	a->taken = TABLE_OF(struct taken);
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
	m->classes[INSN_CLASSES] += insn->classes ? 0 : n;
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
	const struct profile_place *p = profile_place_at(a->d, place);
	uint8_t bytes[INSN_LENGTH_MAX];
	struct insn insn;
	enum isa_machine machine = explain_isa(a->d, p->key.image);
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
			!profile_counts_instructions(&d->metrics.data[k]))
			continue;
		any = true;
		a->mix->label = d->metrics.data[k].metric->label;
		for (size_t i = 0; i < d->places.count; i++) {
			uint64_t n = d->counts.data[i * metrics + k];

			if (n && profile_wanted(d, profile_place_at(d, i)->key.image,
					 d->name[i].procedure))
				add_place(a, i, n);
		}
	}
	return any;
}

static void head(struct archinfo *a, const char *text)
{
	report_no_shares(a->t, report_row_add(a->t, &(struct report_row){.role = REPORT_HEAD,
							    .procedure = text,
							    .parent = -1}));
}

/* n of `whole`; rows that would be 0 are left out. */
static void archinfo_add_row(
	struct archinfo *a, const char *section, const char *name, uint64_t n, uint64_t whole)
{
	const struct report_row row = {.role = REPORT_ROW, .parent = -1, .text = name};
	struct report_cell *cells;

	if (!n)
		return;
	cells = report_cells(a->t, report_row_add(a->t, &row));
	cells[ARCHINFO_COUNT].quantity = quantity_exact((double)n, a->mix->label);
	cells[ARCHINFO_COUNT].percent = whole ? 100 * (double)n / (double)whole : NAN;
	cells[ARCHINFO_COUNT].cumulative = NAN;
	cells[ARCHINFO_SECTION].text = section;
}

struct named {
	const char *name;
	uint64_t n;
};

static int archinfo_by_count(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return sort_falling(x->n, y->n) ?: strcmp(x->name, y->name);
}

/* Some counts of the mix, one row each. */
struct section {
	const char *title, *key; /* for people; for scripts */
	const uint64_t *counts;
	size_t size;
	/* All rows in their order, as shares of their sum ... */
	const char *const *names;
	/* ... or, where names is NULL, the most frequent first, as shares of all instructions. It
	 * returns NULL for what has no name. */
	const char *(*name_of)(enum isa_machine machine, unsigned i);
	bool cut; /* only the rows that -q keeps, and the rest as one row */
};

static void ranked_section(struct archinfo *a, const struct section *s)
{
	struct report_cut cut = report_cut_of(a->d, (struct prof_quit){.rows = USUAL_ROWS});
	struct named *list = report_scratch(a->t, s->size, sizeof(*list));
	uint64_t all = a->mix->all, rest = 0;
	size_t count = 0;

	for (unsigned i = 0; list && i < s->size; i++) {
		const char *name = s->counts[i] ? s->name_of(a->mix->machine, i) : NULL;

		if (name)
			list[count++] = (struct named){name, s->counts[i]};
	}
	if (!count)
		return;
	head(a, s->title);
	qsort(list, count, sizeof(*list), archinfo_by_count);
	for (size_t i = 0; i < count; i++)
		if (s->cut && (rest || report_cuts(&cut, 100 * (double)list[i].n / (double)all)))
			rest += list[i].n;
		else
			archinfo_add_row(a, s->key, list[i].name, list[i].n, all);
	archinfo_add_row(a, s->key, "(others)", rest, all);
}

static void fixed_section(struct archinfo *a, const struct section *s)
{
	uint64_t all = 0;

	for (size_t i = 0; i < s->size; i++)
		all += s->counts[i];
	if (!all)
		return;
	head(a, s->title);
	for (size_t i = 0; i < s->size; i++)
		archinfo_add_row(a, s->key, s->names[i], s->counts[i], all);
}

static void add_sections(struct archinfo *a, const struct section *sections, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(sections[i].names ? fixed_section : ranked_section)(a, &sections[i]);
}

static const char *class_name(enum isa_machine machine, unsigned i)
{
	(void)machine;
	return i < INSN_CLASSES ? isa_class_name(i) : "plain integer, register to register";
}

static void branches_section(struct archinfo *a)
{
	const uint64_t *b = a->mix->branches;

	if (!a->mix->ended)
		return;
	head(a, "Branches (those taken: of the conditional ones; others: of all branches)");
	for (unsigned i = 0; i < BRANCH_ROWS; i++)
		archinfo_add_row(a, "branch", branch_names[i], b[i],
			i == BRANCH_TAKEN ? b[BRANCH_CONDITIONAL] : a->mix->ended);
}

static void average(struct archinfo *a, const char *name, uint64_t over, uint64_t under)
{
	struct report_row row = {.role = REPORT_ROW, .parent = -1, .text = name};
	struct report_cell *cells;

	if (!under)
		return;
	/* A column of its own would be empty in all other sections. */
	row.note = report_text(a->t, "%.4g", (double)over / (double)under);
	cells = report_cells(a->t, report_row_add(a->t, &row));
	cells[ARCHINFO_AVERAGE].quantity =
		quantity_exact((double)over / (double)under, a->mix->label);
	cells[ARCHINFO_COUNT].percent = cells[ARCHINFO_AVERAGE].percent = NAN;
	cells[ARCHINFO_SECTION].text = "average";
}

static void averages_section(struct archinfo *a)
{
	const struct mix *m = a->mix;
	uint64_t decoded = m->all - m->other;
	uint64_t taken = m->ended - m->branches[BRANCH_CONDITIONAL] + m->branches[BRANCH_TAKEN];

	head(a, "Averages");
	average(a, "bytes an instruction", m->bytes, decoded);
	average(a, "instructions a block (between branches)", decoded, m->ended);
	average(a, "instructions between taken branches", decoded, m->edges ? taken : 0);
}

static void all_sections(struct archinfo *a)
{
	const struct mix *m = a->mix;
#define COUNTS(member) .counts = m->member, .size = sizeof(m->member) / sizeof(m->member[0])
	const struct section instructions[] = {
		{"Instructions by kind (one may be of several)", "kind", COUNTS(classes),
			.name_of = class_name},
		{"Instructions by name", "name", COUNTS(mnemonics), .name_of = isa_mnemonic,
			.cut = true},
	};
	const struct section operands[] = {
		{"Loads by operand", "load", COUNTS(loads), operand_names},
		{"Stores by operand", "store", COUNTS(stores), operand_names},
		{"Loads by size", "load size", COUNTS(load_sizes), size_names},
		{"Stores by size", "store size", COUNTS(store_sizes), size_names},
		{"Floating-point arithmetic by width", "fp width", COUNTS(fp_widths), width_names},
		{"Other vector instructions by width", "vector width", COUNTS(widths), width_names},
		{"Registers read", "register read", COUNTS(reads), .name_of = isa_register_name,
			.cut = true},
		{"Registers written", "register written", COUNTS(writes),
			.name_of = isa_register_name, .cut = true},
	};
#undef COUNTS

	add_sections(a, instructions, sizeof(instructions) / sizeof(instructions[0]));
	branches_section(a);
	add_sections(a, operands, sizeof(operands) / sizeof(operands[0]));
}

static void archinfo_notes(struct archinfo *a)
{
	unsigned long long other = a->mix->other;

	if (other)
		report_note(a->t,
			"%llu instruction%s (%.2f%%) %s of code that cannot be had or read", other,
			plural(other), 100 * (double)other / (double)a->mix->all, plural_is(other));
	if (!a->mix->edges)
		report_note(a->t,
			"The experiment has no edges: the number of taken branches is not known");
}

static int archinfo_make(struct archinfo *a, struct error *e)
{
	struct report_column count = {.kind = REPORT_COUNT,
		.flags = REPORT_PERCENT | REPORT_EXACT,
		.name = "instructions",
		.unit = "instructions",
		.experiment = 0};
	struct report_column others[] = {
		{.kind = REPORT_RATIO, .flags = REPORT_SCRIPTS, .name = "average"},
		{.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "section"}};

	report_describe(a->t, a->d);
	if (!a->mix || take_edges(a))
		return error_nomem(e);
	if (!add_all(a)) {
		error_set(e, ERR_NOT_FOUND, "no experiment here counted instructions exactly");
		return error_hint(e, "record one with ssrun -ideal");
	}
	count.label = others[0].label = a->mix->label;
	report_column_add(a->t, &count);
	report_columns_add(a->t, others, 2);
	if (a->t->failed)
		return error_nomem(e);
	averages_section(a);
	all_sections(a);
	archinfo_notes(a);
	report_coverage(a->t, a->d);
	return 0;
}

int report_archinfo(struct prof_data *d, struct report_table *t, struct error *e)
{
	struct archinfo a = {.d = d, .t = t, .mix = report_scratch(t, 1, sizeof(*a.mix))};
	int rc;

	t->report = "archinfo";
	t->layout = REPORT_CODE;
	t->title = "What was executed";
	rc = profile_data_name(d, false, e) ? -1 : archinfo_make(&a, e);
	table_fini(&a.taken);
	return report_finish(t, rc, e);
}
