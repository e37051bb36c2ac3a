/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/block.h"

#include "base/plural.h"
#include "base/shown.h"
#include "isa/isa.h"
#include "render/number.h"

static const char *mode_name(enum block_mode mode)
{
	return mode == BLOCK_LOOPED ? "looped" : "unrolled";
}

static void hex(const struct block_row *row, size_t most, struct strbuf *out)
{
	size_t n = row->block.length;

	if (!n)
		shown_printf(out, "%.40s", row->hex);
	for (size_t i = 0; i < n && i < most; i++)
		strbuf_printf(out, "%02x", row->block.bytes[i]);
	if (n > most)
		strbuf_puts(out, "...");
}

/* With Mi and its reason where there is a schedule. */
static void block_instructions(const struct block_row *row, struct strbuf *out)
{
	const struct block *b = &row->block;
	size_t number = 0;

	if (row->schedule)
		strbuf_puts(out,
			"     #     Mi  instruction                               waits for\n");
	for (size_t at = 0; at < b->length; number++) {
		char text[INSN_TEXT_MAX], reason[96];
		size_t n = isa_length(ISA_X86_64, b->bytes + at, b->length - at, NULL);

		isa_text(ISA_X86_64, b->bytes + at, b->length - at, b->address + at, ISA_ATT, text);
		if (row->schedule && number < row->schedule->count) {
			block_schedule_reason(row->schedule, number, reason);
			strbuf_printf(out, "  %4zu  %5.2f  %-*s%s%s\n", number + 1,
				row->schedule->rows[number].mi, reason[0] ? 40 : 0, text,
				reason[0] ? "  " : "", reason);
		} else {
			strbuf_printf(out, "    %s\n", text);
		}
		at += n ? n : 1;
	}
}

/* Cycles by the schedule, and measured ones against them. */
static void block_scheduled(const struct block_row *row, struct strbuf *out)
{
	const struct block_schedule *s = row->schedule;

	if (!s)
		return;
	shown_printf(out, "  %.3f cycles by the schedule (%s, %s), bound by %s", s->total.cycles,
		label_name(LABEL_ESTIMATED), s->core->name, s->bound);
	if (row->result && !row->result->class && s->total.cycles > 0)
		strbuf_printf(out, "; measured/schedule %.2f",
			row->result->cycles.value / s->total.cycles);
	strbuf_putc(out, '\n');
	if (s->total.guessed)
		shown_printf(out, "  warning: %u instruction%s without a rule of %s own in %s",
			s->total.guessed, s->total.guessed > 1 ? "s" : "",
			s->total.guessed > 1 ? "their" : "its", s->core->name);
	if (s->total.guessed)
		strbuf_putc(out, '\n');
}

static void warnings(const struct block_result *r, struct strbuf *out)
{
	for (unsigned i = 0; i < BLOCK_WARN_COUNT; i++)
		if (r->warnings >> i & 1)
			strbuf_printf(out, "  warning: %s\n", block_warning_text(i));
}

static void basis(const struct block_result *r, enum block_mode mode, struct strbuf *out)
{
	strbuf_printf(out, "  %s: %u less %u %s, %u timed run%s in %u worker%s%s\n",
		mode_name(mode), r->unroll[1], r->unroll[0],
		mode == BLOCK_LOOPED ? "iterations" : "copies", r->runs, plural(r->runs),
		r->workers, plural(r->workers),
		r->pmu ? ", core cycle counter" : ", time stamps as core cycles");
	strbuf_printf(out, "  state: %s; ", r->state);
	if (!r->pages)
		strbuf_puts(out, "touches no memory\n");
	else
		strbuf_printf(out, "touches %u page%s, %s\n", r->pages, r->pages > 1 ? "s" : "",
			r->physical_pages < r->pages ? "all one physical page"
						     : "each a physical page of its own");
}

void render_block_text(const struct block_row *row, enum block_mode mode, struct strbuf *out)
{
	const struct block_result *r = row->result;

	hex(row, 64, out);
	if (row->where[0])
		shown_printf(out, "  %s", row->where);
	strbuf_putc(out, '\n');
	block_instructions(row, out);
	if (!r) {
		block_scheduled(row, out);
		return;
	}
	if (r->class) {
		strbuf_printf(
			out, "  %s: %s", block_class_name(r->class), block_class_text(r->class));
		if (r->class == BLOCK_ADDRESS || r->class == BLOCK_OWN_CODE)
			strbuf_printf(out, " (0x%llx)", (unsigned long long)r->fault_address);
		strbuf_putc(out, '\n');
	} else {
		strbuf_printf(out, "  %.3f core cycles, ", r->cycles.value);
		number_interval(out, &r->cycles);
		strbuf_printf(out, " (%s), %u instruction%s\n", label_name(r->cycles.label),
			r->instructions, r->instructions == 1 ? "" : "s");
		block_scheduled(row, out);
		basis(r, mode, out);
	}
	warnings(r, out);
}

void render_blocks_head(struct strbuf *out, bool functions)
{
	if (functions)
		strbuf_puts(out, " samples ");
	strbuf_printf(out, "%10s %10s %10s  %-8s  %-13s %5s %10s  %-24s  %s\n", "cycles", "low",
		"high", "label", "class", "insns", "schedule", "bound by",
		functions ? "function, address, block" : "block");
}

void render_blocks_line(const struct block_row *row, bool functions, struct strbuf *out)
{
	const struct block_result *r = row->result;
	const char *label = "-", *class = "not measured";
	bool measured = r && !r->class;

	if (measured)
		label = label_name(r->cycles.label);
	if (r)
		class = block_class_name(r->class);
	if (functions)
		strbuf_printf(out, "%7.1f%% ", 100 * row->share);
	if (r && measured)
		strbuf_printf(out, "%10.3f %10.3f %10.3f", r->cycles.value, r->cycles.low,
			r->cycles.high);
	else
		strbuf_printf(out, "%10s %10s %10s", "-", "-", "-");
	strbuf_printf(out, "  %-8s  %-13s", label, class);
	if (row->schedule)
		shown_printf(out, " %5zu %10.3f  %-24s  ", row->schedule->count,
			row->schedule->total.cycles, row->schedule->bound);
	else
		strbuf_printf(out, " %5u %10s  %-24s  ", r ? r->instructions : 0, "-", "-");
	if (functions)
		shown_printf(out, "%s %s ", row->function, row->where);
	hex(row, functions ? 12 : 24, out);
	if (r && r->warnings) {
		strbuf_puts(out, " (");
		for (unsigned i = 0, n = 0; i < BLOCK_WARN_COUNT; i++)
			if (r->warnings >> i & 1)
				strbuf_printf(out, "%s%s", n++ ? "; " : "", block_warning_text(i));
		strbuf_putc(out, ')');
	}
	strbuf_putc(out, '\n');
}

void render_blocks_csv_head(struct strbuf *out)
{
	strbuf_puts(out,
		"hex,class,cycles,low,high,label,instructions,unroll_low,unroll_high,pages,"
		"physical_pages,workers,runs,state,warnings,where,function,share,schedule,"
		"schedule_label,core,bound\n");
}

/* In quotes, always. */
static void csv_quoted(const char *text, struct strbuf *out)
{
	struct strbuf room = {0};

	strbuf_putc(out, '"');
	for (text = shown_text(text, &room); *text; text++)
		strbuf_printf(out, *text == '"' ? "\"\"" : "%c", *text);
	strbuf_putc(out, '"');
	strbuf_fini(&room);
}

void render_blocks_csv(const struct block_row *row, struct strbuf *out)
{
	static const struct block_result none = {.state = ""};
	const struct block_result *r = row->result ? row->result : &none;

	if (row->block.length)
		hex(row, SIZE_MAX, out);
	else
		csv_quoted(row->hex, out);
	strbuf_printf(out, ",%s,", row->result ? block_class_name(r->class) : "not-measured");
	number_csv(out, &r->cycles, NUMBER_RATIO);
	strbuf_printf(out, ",%u,%u,%u,%u,%u,%u,%u,\"%s\",\"", r->instructions, r->unroll[0],
		r->unroll[1], r->pages, r->physical_pages, r->workers, r->runs, r->state);
	for (unsigned i = 0, n = 0; i < BLOCK_WARN_COUNT; i++)
		if (r->warnings >> i & 1)
			strbuf_printf(out, "%s%s", n++ ? "; " : "", block_warning_text(i));
	strbuf_puts(out, "\",");
	csv_quoted(row->where, out);
	strbuf_putc(out, ',');
	csv_quoted(row->function, out);
	if (row->share >= 0)
		strbuf_printf(out, ",%.4g", row->share);
	else
		strbuf_putc(out, ',');
	if (row->schedule)
		shown_printf(out, ",%.3f,%s,%s,%s", row->schedule->total.cycles,
			label_name(LABEL_ESTIMATED), row->schedule->core->name,
			row->schedule->bound);
	else
		strbuf_puts(out, ",,,,");
	strbuf_putc(out, '\n');
}

static void json_schedule(struct json *j, const struct block_row *row)
{
	const struct block_schedule *s = row->schedule;
	struct quantity cycles;
	char reason[96];

	if (!s)
		return;
	cycles = block_schedule_cycles(s);
	json_number(j, "schedule", s->total.cycles);
	number_json(j, "schedule_cycles", &cycles);
	json_string(j, "bound", s->bound);
	json_string(j, "core", s->core->name);
	if (row->result && !row->result->class && s->total.cycles > 0)
		json_number(j, "ratio", row->result->cycles.value / s->total.cycles);
	json_array(j, "rows");
	for (size_t i = 0; i < s->count; i++) {
		json_object(j, NULL);
		json_number(j, "mi", s->rows[i].mi);
		json_string(j, "waits_for", block_schedule_reason(s, i, reason));
		json_end_object(j);
	}
	json_end_array(j);
}

void render_block_json(const struct block_row *row, enum block_mode mode, FILE *out)
{
	const struct block_result *r = row->result;
	struct strbuf text = {0};
	struct json j;

	json_init(&j, out);
	hex(row, SIZE_MAX, &text);
	json_object(&j, NULL);
	json_string(&j, "schema", "prof.block/1");
	json_string(&j, "hex", strbuf_text(&text));
	json_string(&j, "class", r ? block_class_name(r->class) : "not-measured");
	if (row->where[0])
		json_string(&j, "where", row->where);
	if (row->function[0])
		json_string(&j, "function", row->function);
	if (row->share >= 0)
		json_number(&j, "share", row->share);
	json_schedule(&j, row);
	if (!r) {
		json_end_object(&j);
		putc('\n', out);
		strbuf_fini(&text);
		return;
	}
	json_string(&j, "mode", mode_name(mode));
	number_json(&j, "cycles", &r->cycles);
	json_integer(&j, "instructions", r->instructions);
	json_array(&j, "unroll");
	json_integer(&j, NULL, r->unroll[0]);
	json_integer(&j, NULL, r->unroll[1]);
	json_end_array(&j);
	json_integer(&j, "pages", r->pages);
	json_integer(&j, "physical_pages", r->physical_pages);
	json_string(&j, "state", r->state);
	json_integer(&j, "workers", r->workers);
	json_integer(&j, "runs", r->runs);
	json_string(&j, "clock", r->pmu ? "core cycle counter" : "time stamps");
	json_array(&j, "warnings");
	for (unsigned i = 0; i < BLOCK_WARN_COUNT; i++)
		if (r->warnings >> i & 1)
			json_string(&j, NULL, block_warning_text(i));
	json_end_array(&j);
	json_end_object(&j);
	putc('\n', out);
	strbuf_fini(&text);
}
