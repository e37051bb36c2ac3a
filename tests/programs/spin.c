/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin SECONDS: computes for so much CPU time. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	double limit = argc > 1 ? atof(argv[1]) : 0.1;
	volatile unsigned long n = 0;

	do
		for (int i = 0; i < 100000; i++)
			n += (unsigned long)i;
	while ((double)clock() / CLOCKS_PER_SEC < limit);
	return n == 0;
}
