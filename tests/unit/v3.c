/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked with tests that are built for x86-64-v3: on other processors they are skipped. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void need_v3(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
		__builtin_cpu_supports("fma"))
		return;
	puts("ok 1 # SKIP the processor has no AVX2\n1..1");
	fflush(stdout);
	_Exit(0);
}
