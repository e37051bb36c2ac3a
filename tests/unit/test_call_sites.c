/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls by the code before them. */
#include "../tap.h"

#include "collect/call_sites.h"

#if defined(__x86_64__)

#define SYSCALL 0x0f, 0x05

static void site_is(const char *what, const uint8_t *code, size_t size, bool call, long number)
{
	long got = 0;

	ok(call_site(code, size, &got) == call && got == number, "%s", what);
}

#define SITE_IS(what, call, number, ...)                                                           \
	site_is(what, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}),      \
		call, number)

int main(void)
{
	SITE_IS("the number just before", true, 0xca, 0xb8, 0xca, 0, 0, 0, SYSCALL);
	SITE_IS("an argument between", true, 0xca, 0xb8, 0xca, 0, 0, 0, /* xor $0x80, sil */ 0x40,
		0x80, 0xf6, 0x80, SYSCALL);
	SITE_IS("0 by xor", true, 0, 0x31, 0xc0, SYSCALL);
	SITE_IS("the nearest", true, 1, 0xb8, 0xca, 0, 0, 0, 0xb8, 1, 0, 0, 0, SYSCALL);
	SITE_IS("overwritten", true, -1, 0xb8, 0xca, 0, 0, 0, /* mov edx, eax */ 0x89, 0xd0,
		SYSCALL);
	SITE_IS("a call between", true, -1, 0xb8, 0xca, 0, 0, 0, 0xe8, 0, 0, 0, 0, SYSCALL);
	SITE_IS("a jump between", true, -1, 0xb8, 0xca, 0, 0, 0, 0xeb, 0, SYSCALL);
	SITE_IS("the bytes are of an immediate", true, -1, /* mov 0xcab8, edx */ 0xba, 0xb8, 0xca,
		0, 0, 0x90, 0x90, SYSCALL);
	SITE_IS("too large for a number", true, -1, 0xb8, 0, 0, 1, 0, SYSCALL);
	SITE_IS("no call", false, -1, 0xb8, 0xca, 0, 0, 0, 0x90, 0x90);
	SITE_IS("too short", false, -1, 0x05);
	SITE_IS("only the call", true, -1, SYSCALL);
	return done();
}

#else

int main(void)
{
	skip("of x86-64");
	return done();
}

#endif
