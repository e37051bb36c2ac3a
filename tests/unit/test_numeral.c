/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which texts are numbers within bounds, and which are not. */
#include "../tap.h"

#include <math.h>

#include "base/numeral.h"

static const struct {
	const char *text;
	uint64_t least, most;
	bool good;
	uint64_t value;
} whole[] = {
	{"0", 0, 9, true, 0},
	{"9", 1, 9, true, 9},
	{"10", 1, 9, false, 0},
	{"0", 1, 9, false, 0},
	{"18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX},
	{"18446744073709551616", 0, UINT64_MAX, false, 0},
	{"-1", 0, UINT64_MAX, false, 0},
	{"+1", 0, 9, false, 0},
	{" 1", 0, 9, false, 0},
	{"", 0, 9, false, 0},
	{"1x", 0, 9, false, 0},
	{"x", 0, 9, false, 0},
	{"1.5", 0, 9, false, 0},
};

static const struct {
	const char *text, *unit;
	double least, most;
	bool good;
	double value;
} real[] = {
	{"1.5", NULL, 0, 2, true, 1.5},
	{"2", NULL, 0, 2, true, 2},
	{"2.1", NULL, 0, 2, false, 0},
	{"0.01", "%", 0.01, 50, true, 0.01},
	{"5%", "%", 0.01, 50, true, 5},
	{"5%", NULL, 0.01, 50, false, 0},
	{"5%%", "%", 0.01, 50, false, 0},
	{"%", "%", 0, 50, false, 0},
	{"nan", NULL, 0, INFINITY, false, 0},
	{"-1", NULL, 0, 2, false, 0},
	{"1e3", NULL, 0, 1000, true, 1000},
};

int main(void)
{
	pid_t pid = 7;

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		uint64_t value = 77;
		bool good = numeral_whole(whole[i].text, whole[i].least, whole[i].most, &value);

		ok(good == whole[i].good && value == (good ? whole[i].value : 77), "'%s'",
			whole[i].text);
	}
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
		double value = 77;
		bool good = numeral_real(
			real[i].text, real[i].unit, real[i].least, real[i].most, &value);

		ok(good == real[i].good && value == (good ? real[i].value : 77), "'%s'",
			real[i].text);
	}
	ok(!numeral_pid("2147483648", &pid) && !numeral_pid("0", &pid) && pid == 7, "no process");
	ok(numeral_pid("2147483647", &pid) && pid == 2147483647, "the last of all");
	return done();
}
