/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every instruction of real files, against objdump: as long, and its branch to the same address.
 * Files named as arguments are taken instead of those that every Debian has.
 *
 * Data among code is another matter (libcrypto): nobody is right there.  objdump shows fwait and
 * the x87 instruction behind it as one, and prefixes without effect as instructions of their own:
 * processors do not, and neither do we.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tap.h"
#include "base/vec.h"
#include "isa/isa.h"

struct shown {
	uint64_t address, target;
	size_t at; /* of its bytes */
	uint8_t length;
	bool has_target, special;
};

struct listing {
	VEC(struct shown) insns;
	VEC(uint8_t) bytes;
};

/* "  401000:\tf3 0f 1e fa \tendbr64", wide. */
static bool read_line(struct listing *l, char *line)
{
	char *end, *text, *at;
	struct shown *s;
	uint64_t address = strtoull(line, &end, 16);

	if (end == line || end[0] != ':' || end[1] != '\t')
		return false;
	s = vec_push(&l->insns);
	if (!s)
		return false;
	s->address = address;
	s->at = l->bytes.count;
	text = strchr(end + 2, '\t');
	for (at = end + 2; at < (text ? text : line + strlen(line));) {
		unsigned byte;
		uint8_t *b;

		if (*at == ' ' || sscanf(at, "%2x", &byte) != 1 || !(b = vec_push(&l->bytes)))
			break;
		*b = (uint8_t)byte;
		s->length++;
		at += 3;
	}
	if (!text)
		return true;
	/* Prefixes shown alone, and the word (bad). */
	s->special = l->bytes.data[s->at] == 0x9b || strstr(text, "(bad)") ||
		     strstr(text, ".byte") || strncmp(text, "\trex", 4) == 0 ||
		     strncmp(text, "\tcs", 3) == 0 || strncmp(text, "\tds", 3) == 0 ||
		     strncmp(text, "\tss", 3) == 0 || strncmp(text, "\tes", 3) == 0 ||
		     strncmp(text, "\tfs", 3) == 0 || strncmp(text, "\tgs", 3) == 0 ||
		     strncmp(text, "\tdata16", 7) == 0 || strncmp(text, "\taddr32", 7) == 0 ||
		     strncmp(text, "\trep", 4) == 0 || strncmp(text, "\tlock", 5) == 0;
	at = strstr(text, " <");
	if (at && strcspn(text, "#*$") >= (size_t)(at - text)) {
		while (at > text && strchr("0123456789abcdef", at[-1]))
			at--;
		s->target = strtoull(at, NULL, 16);
		s->has_target = true;
	}
	return true;
}

static bool load(struct listing *l, const char *path)
{
	char command[600], line[1024];
	FILE *f;

	snprintf(command, sizeof(command), "objdump -d -w '%s' 2>/dev/null", path);
	f = popen(command, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		read_line(l, line);
	return pclose(f) == 0;
}

static void compare(const char *path)
{
	struct listing l = {0};
	size_t lengths = 0, targets = 0, special = 0, quick = 0;

	if (!load(&l, path) || l.insns.count < 100) {
		skip("objdump does not read it");
		goto out;
	}
	for (size_t i = 0; i < l.insns.count; i++) {
		const struct shown *s = &l.insns.data[i];
		const uint8_t *bytes = l.bytes.data + s->at;
		size_t room = l.bytes.count - s->at, length;
		struct insn insn;

		if (room > INSN_LENGTH_MAX)
			room = INSN_LENGTH_MAX;
		length = isa_decode(ISA_X86_64, bytes, room, s->address, &insn);
		quick += isa_length(ISA_X86_64, bytes, room, NULL) != length;
		if (length != s->length && s->special) {
			special++;
			continue;
		}
		if (length != s->length && lengths++ < 5)
			printf("# %s: %llx: %zu bytes, objdump: %u\n", path,
				(unsigned long long)s->address, length, s->length);
		if (length == s->length &&
			(insn.has_target != s->has_target || insn.target != s->target) &&
			targets++ < 5)
			printf("# %s: %llx: to %llx, objdump: %llx\n", path,
				(unsigned long long)s->address, (unsigned long long)insn.target,
				(unsigned long long)s->target);
	}
	printf("# %s: %zu instructions, %zu of them shown in another way by objdump\n", path,
		l.insns.count, special);
	is_int(lengths, 0, "%s: as long as for objdump", path);
	is_int(targets, 0, "%s: branches to the same addresses", path);
	is_int(quick, 0, "%s: isa_length says the same", path);
	ok(special * 1000 < l.insns.count, "%s: hardly any is special", path);
out:
	vec_fini(&l.insns);
	vec_fini(&l.bytes);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {"/lib/x86_64-linux-gnu/libm.so.6",
		"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", "/bin/gzip"};

#ifndef __x86_64__
	skip("the files here are of another machine");
	return done();
#endif
	for (int i = 1; i < argc; i++)
		compare(argv[i]);
	for (size_t i = 0; argc < 2 && i < sizeof(usual) / sizeof(*usual); i++)
		if (access(usual[i], R_OK) == 0)
			compare(usual[i]);
		else
			skip("there is no such file here");
	return done();
}
