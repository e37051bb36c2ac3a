/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for texts: one that strangers cannot foresee, and one that is the same everywhere. */
#include <string.h>
#include <sys/auxv.h>

#include "base/table.h"

static uint64_t turned(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turned(v[1], 13) ^ v[0];
	v[3] = turned(v[3], 16) ^ v[2];
	v[0] = turned(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = turned(v[3], 21) ^ v[0];
	v[1] = turned(v[1], 17) ^ v[2];
	v[2] = turned(v[2], 32);
}

/* SipHash-1-3: with a key that is not known, texts of one hash cannot be chosen. */
uint64_t table_hash_keyed(const uint64_t key[2], const void *data, size_t size)
{
	const char *bytes = data;
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
		key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	word = 0;
	if (i < size)
		memcpy(&word, bytes + i, size - i);
	word |= (uint64_t)size << 56;
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	for (int round = 0; round < 3; round++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void table_secret(uint64_t key[2])
{
	const char *bytes = (const char *)(uintptr_t)getauxval(AT_RANDOM);

	key[0] = 0xd6e8feb86659fd93u;
	key[1] = 0;
	if (bytes)
		memcpy(key, bytes, 2 * sizeof(*key));
}

uint64_t table_hash(const void *data, size_t size)
{
	uint64_t key[2];

	table_secret(key);
	return table_hash_keyed(key, data, size);
}

uint64_t table_hash_fixed(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3u;
	return h;
}
