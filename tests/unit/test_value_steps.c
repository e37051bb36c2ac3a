/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that are decoded as others like them have been, against those decoded by themselves:
 * all of this program's code, and any bytes. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../chance.h"
#include "../tap.h"
#include "isa/brief.h"
#include "values/private.h"

#define BYTES (1u << 18)

static uint8_t code[BYTES + INSN_LENGTH_MAX];
static unsigned long alike, compared, differ;

/* Its own state apart: where it was executed, and its thunk. */
static struct step plain(struct values *v, const struct step *s, uint8_t thunk[INSN_LENGTH_MAX])
{
	struct step p = *s;

	memset(thunk, 0, INSN_LENGTH_MAX);
	if (p.kind == STEP_EXECUTE) {
		machine_bytes(&v->machine, p.thunk, thunk, p.copy);
		if (p.copied_at)
			memset(thunk + p.copied_at, 0, 4);
	}
	p.thunk = 0;
	p.epoch = p.after = 0;
	p.loaded = 0;
	return p;
}

static void compare(struct values *usual, struct values *apart, uint64_t pc)
{
	uint8_t thunks[2][INSN_LENGTH_MAX];
	struct step *a, *b, plains[2];
	struct insn_shape shape;

	memset(apart->steps.alike, 0, sizeof(apart->steps.alike));
	a = value_steps_find(usual, pc);
	b = value_steps_find(apart, pc);
	if (!a || !b)
		return;
	plains[0] = plain(usual, a, thunks[0]);
	plains[1] = plain(apart, b, thunks[1]);
	compared++;
	alike += isa_brief_shape(a->bytes, sizeof(a->bytes), &shape);
	if (memcmp(&plains[0], &plains[1], sizeof(plains[0])) == 0 &&
		memcmp(thunks[0], thunks[1], sizeof(thunks[0])) == 0)
		return;
	if (differ++ < 5)
		printf("# %02x %02x %02x %02x %02x: kind %d or %d\n", a->bytes[0], a->bytes[1],
			a->bytes[2], a->bytes[3], a->bytes[4], a->kind, b->kind);
}

static void sweep(struct values *usual, struct values *apart)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t at = 0;

	while (at < BYTES) {
		const struct step *s;

		snapshot_begin(&usual->snapshot, getpid(), memory);
		snapshot_begin(&apart->snapshot, getpid(), memory);
		compare(usual, apart, (uint64_t)(uintptr_t)(code + at));
		s = value_steps_find(apart, (uint64_t)(uintptr_t)(code + at));
		at += s && s->length ? s->length : 1;
	}
	close(memory);
}

static struct values *fresh(void)
{
	static const struct values_config config;
	struct error e;

	return values_new(&config, &e);
}

int main(void)
{
	FILE *self = fopen("/proc/self/exe", "re");
	struct values *usual = fresh(), *apart = fresh();

	if (!usual || !apart || !self) {
		skip("no interpreter here");
		return done();
	}
	fseek(self, 0x8000, SEEK_SET);
	is_int((long)fread(code, 1, BYTES, self) > 10000, 1, "this program's code is read");
	fclose(self);
	sweep(usual, apart);
	is_int((long)differ, 0, "decoded the same (%lu)", compared);
	ok(alike > compared / 4, "many like others (%lu)", alike);
	for (size_t i = 0; i < BYTES; i++)
		code[i] = (uint8_t)chance_mixed();
	sweep(usual, apart);
	is_int((long)differ, 0, "any bytes (%lu)", compared);
	values_free(usual);
	values_free(apart);
	return done();
}
