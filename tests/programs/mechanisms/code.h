/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the code of the other kernels: instructions of a mix, and branches. */
#ifndef MECHANISMS_CODE_H
#define MECHANISMS_CODE_H

#include "data.h"

static unsigned char *code, *put; /* rbx: data, of which there are two MiB */
static const char *mix = "adds";
static unsigned put_count;

#define PUT(text) put_bytes(text, sizeof(text) - 1)

static void put_bytes(const void *bytes, size_t size)
{
	memcpy(put, bytes, size);
	put += size;
}

/* A distance of four bytes, which end at `at`. */
static void set_distance(unsigned char *at, const unsigned char *to)
{
	int32_t distance = (int32_t)(to - at);

	memcpy(at - 4, &distance, sizeof(distance));
}

static void put_branch(const char *opcode, const unsigned char *to)
{
	put_bytes(opcode, strlen(opcode));
	put += 4;
	set_distance(put, to);
}

#define JUMP   "\xe9"
#define CALL   "\xe8"
#define NEVER  "\x0f\x80" /* on overflow, which there is not */
#define ALWAYS "\x0f\x81"
#define IF_SET "\x0f\x85"
#define RETURN PUT("\xc3")

/* An instruction of the mix, independent of those before it. */
static void put_one(void)
{
	static const unsigned char registers[8] = {0, 1, 2, 6, 8, 9, 10, 11};
	unsigned r = registers[put_count++ % 8], low = r & 7, high = r >= 8;
	unsigned char slot = (unsigned char)(8 * (put_count >> 2 & 7));
	const char *what = mix;

	if (strcmp(mix, "typical") == 0) {
		static const char *const kinds[] = {
			"loads", "adds", "tests", "stores", "tests", "adds"};

		what = kinds[put_count % 6];
	} else if (strcmp(mix, "moves+loads") == 0) {
		what = put_count & 1 ? "moves" : "loads";
	}
	if (strcmp(what, "adds") == 0)
		put_bytes((unsigned char[]){0x48 | high, 0x83, 0xc0 | low, 1}, 4);
	else if (strcmp(what, "moves") == 0)
		put_bytes((unsigned char[]){0x48 | high << 2, 0x8b, 0xc3 | low << 3}, 3);
	else if (strcmp(what, "loads") == 0)
		put_bytes((unsigned char[]){0x48 | high << 2, 0x8b, 0x43 | low << 3, slot}, 4);
	else if (strcmp(what, "stores") == 0)
		put_bytes((unsigned char[]){0x48 | high << 2, 0x89, 0x43 | low << 3, 64 + slot}, 4);
	else if (strcmp(what, "tests") == 0)
		put_bytes(
			(unsigned char[]){0x48 | high << 2 | high, 0x85, 0xc0 | low | low << 3}, 3);
	else if (strcmp(what, "shifts") == 0)
		put_bytes((unsigned char[]){0x48 | high, 0xc1, 0xe0 | low, 1}, 4);
	else if (strcmp(what, "long-addresses") == 0) /* lea 8(%r12,%r13) */
		put_bytes((unsigned char[]){0x4b | high << 2, 0x8d, 0x44 | low << 3, 0x2c, 8}, 5);
	else if (strcmp(what, "indexes") == 0) /* lea (%r12,%r13) */
		put_bytes((unsigned char[]){0x4b | high << 2, 0x8d, 0x04 | low << 3, 0x2c}, 4);
	else if (strcmp(what, "pairs") == 0) /* push %rbx, pop %rbx */
		put_bytes(put_count & 1 ? "\x53" : "\x5b", 1);
	else if (strcmp(what, "nops") == 0) /* of four bytes */
		PUT("\x0f\x1f\x40\x00");
	else /* "long": of eight */
		PUT("\x0f\x1f\x84\x00\x00\x00\x00\x00");
}

static void put_some(size_t n)
{
	while (n-- > 0)
		put_one();
}

static void align(size_t bytes)
{
	put += (bytes - (size_t)(put - code) % bytes) % bytes;
}

#endif
