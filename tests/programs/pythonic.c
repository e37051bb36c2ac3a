/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks from outside as an interpreter of python3 3.11 does, and is hostile: it always has other
 * threads and other functions than before. It runs for half a second of its own time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 32, FRAMES = 64, OBJECTS = 1 << 18 };

void _PyEval_EvalFrameDefault(uint64_t turn); /* as CPython names it */

uint64_t PyCode_Type[64], _PyRuntime[64];
static uint64_t *objects; /* each word is the type of one */
static uint64_t interpreter[8], threads[THREADS][24], cframes[THREADS][4],
	frames[THREADS][FRAMES][8];
static volatile unsigned long sink;

__attribute__((noinline)) void _PyEval_EvalFrameDefault(uint64_t turn)
{
	for (uint64_t i = 0; i < THREADS; i++) {
		threads[i][20] = turn * THREADS + i;
		for (uint64_t k = 0; k < FRAMES; k++)
			frames[i][k][4] = (uint64_t)(objects + (turn * 7919 + i * FRAMES + k) %
								       (OBJECTS - 32));
	}
	for (unsigned i = 0; i < 300000; i++)
		sink += i;
}

int main(void)
{
	objects = malloc(OBJECTS * sizeof(*objects));
	for (int i = 0; objects && i < OBJECTS; i++)
		objects[i] = (uint64_t)PyCode_Type;
	_PyRuntime[5] = (uint64_t)interpreter;
	interpreter[2] = (uint64_t)threads[0];
	for (int i = 0; i < THREADS; i++) {
		threads[i][1] = i + 1 < THREADS ? (uint64_t)threads[i + 1] : 0;
		threads[i][7] = (uint64_t)cframes[i];
		cframes[i][1] = (uint64_t)frames[i][0];
		for (int k = 0; k + 1 < FRAMES; k++)
			frames[i][k][6] = (uint64_t)frames[i][k + 1];
	}
	for (uint64_t turn = 0; objects && clock() < CLOCKS_PER_SEC / 2; turn++)
		_PyEval_EvalFrameDefault(turn);
	return 0;
}
