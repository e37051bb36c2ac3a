/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known executions of lines, two inlined functions deep: tests name lines of this file. */
int sink;

static inline __attribute__((always_inline)) int innermost(int i)
{
	if (i % 10 == 3)
		return i * 3;
	return i + 1;
}

static inline __attribute__((always_inline)) int inner(int i)
{
	return innermost(i) + innermost(i + 1);
}

__attribute__((noinline)) static int hot(int i)
{
	return inner(i) ^ 5;
}

__attribute__((noinline)) int cold(int i)
{
	sink += i;
	return sink;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 5000; i++) {
		sink += hot(i + argc);
		if (i == 4999)
			cold(i);
	}
	return 0;
}
