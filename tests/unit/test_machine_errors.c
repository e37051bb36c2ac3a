/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/machine: descriptions that are refused, and what is said of them. */
#include "../tap.h"

#include "machine/private.h"

static struct machine m;
static struct error e;

static int parse(const char *text)
{
	memset(&e, 0, sizeof(e));
	return machine_parse(text, strlen(text), "x.machine", &m, &e);
}

static const struct bad {
	const char *text, *message, *hint;
} bad[] = {
	{"", "x.machine: the file is empty", "perfex-machine(5)"},
	{"# nothing\n[caches]\n", "x.machine: the file is empty", ""},
	{"name x\n", "x.machine:1: 'name' is before the first section", "[machine]"},
	{"[machine]\n\n[cache]\n", "x.machine:3: unknown section 'cache'", "'caches'"},
	{"[caches]\nL1d 32K 8-way 64-byte 4-cycle\n", "x.machine:2: unknown keyword 'L1d'",
		"'L1D'"},
	{"[caches]\nwalk 3-cycle\n", "x.machine:2: 'walk' belongs in the section [tlbs]", "[tlbs]"},
	{"[caches\n", "x.machine:1: unknown heading '[caches'", ""},
	{"[caches] L1D\n", "x.machine:1: unexpected 'L1D'", ""},
	{"[caches]\nL1D\n", "x.machine:2: L1D has no value", ""},
	{"[caches]\nL1D 32K 8-way 64-byte\n", "x.machine:2: L1D lacks its latency", ""},
	{"[caches]\nL1D 32K 8-way 4-cycle\n", "x.machine:2: L1D lacks its line size", ""},
	{"[caches]\nL1D 8-way 64-byte 4-cycle\n", "x.machine:2: L1D lacks its size", ""},
	{"[caches]\nL1D 32K 64-byte 4-cycle\n", "x.machine:2: L1D lacks its associativity", ""},
	{"[caches]\nL1D 32K 8-way 16-way 64-byte 4-cycle\n",
		"x.machine:2: L1D: '16-way' repeats a part", ""},
	{"[caches]\nL1D 32K 8-sway 64-byte 4-cycle\n", "x.machine:2: L1D: invalid '8-sway'",
		"32K 8-way 64-byte 4-cycle"},
	{"[caches]\nL1D 32K 0-way 64-byte 4-cycle\n", "x.machine:2: L1D: 0-way is out of range",
		""},
	{"[caches]\nL1D 32K 7-way 64-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: 32768 bytes do not divide", "take 4-way or 8-way"},
	{"[caches]\nL1D 32K 8-way 48-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: a line of 48 bytes", "take 32-byte or 64-byte"},
	{"[caches]\nL1D 256 8-way 64-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: a set of 8 ways of 64 bytes", "take 4-way"},
	{"[caches]\nLL 2G 8-way 64-byte 4-cycle\n", "x.machine:2: LL cannot be: 2147483648 bytes",
		"take 1G or less"},
	{"[caches]\nLL 99999999999999999999 8-way 64-byte 4-cycle\n", "x.machine:2: LL: invalid",
		""},
	{"[caches]\nL1D none 8-way\n", "x.machine:2: L1D: unexpected text after 'none'", ""},
	{"[caches]\nL1D none\n", "x.machine:2: L1D cannot be: a machine needs both L1I and L1D",
		"describe it"},
	{"[caches]\nL2 none\n\nL2 none\n", "x.machine:4: L2 was already given in line 2", ""},
	{"[tlbs]\nDTLB 64-entry 24-way\n", "x.machine:2: DTLB cannot be: 64 entries do not divide",
		"take 16-way or 32-way"},
	{"[tlbs]\nDTLB 96-entry 8-way\n", "x.machine:2: DTLB cannot be: 12 sets",
		"take 6-way or 12-way"},
	{"[tlbs]\nDTLB 64-entry full 4-cycle\n", "x.machine:2: DTLB: invalid '4-cycle'", ""},
	{"[tlbs]\nSTLB 64-entry full\n", "x.machine:2: STLB lacks its latency", ""},
	{"[tlbs]\npage 5000\n",
		"x.machine:2: page cannot be: the page size must be a power of two, not 5000",
		"take 4096 or 8192"},
	{"[tlbs]\npage 3000\n", "x.machine:2: page 3000 is out of range", ""},
	{"[machine]\nclock 3\n", "x.machine:2: clock is not a frequency", ""},
	{"[machine]\nclock 3 Ghz\n", "x.machine:2: clock is not a frequency", ""},
	{"[machine]\nclock 3000 GHz\n", "x.machine:2: clock is not a frequency", ""},
	{"[machine]\nclock 3,7 GHz\n", "x.machine:2: clock is not a frequency", ""},
	{"[machine]\nclock 3 Hz\n", "x.machine:2: clock 3 is out of range", ""},
	{"[machine]\ncores 65\n", "x.machine:2: cores 65 is out of range, 1 to 64", ""},
	{"[machine]\ncores -1\n", "x.machine:2: cores '-1' is not a whole number", ""},
	{"[machine]\nname a b\n", "x.machine:2: unexpected 'b'", ""},
	{"[machine]\nname a/b\n", "x.machine:2: name 'a/b'", ""},
	{"[machine]\nname \x01\n", "x.machine:2: a control character (0x01)", ""},
	{"[branches]\nentries 1000\n", "x.machine:2: entries 1000 is not a power of two", ""},
	{"[branches]\npredictor tag\n",
		"x.machine:2: predictor is 'two-bit', 'tagged' or 'cachegrind', not 'tag'",
		"'tagged'"},
	{"[caches]\nL2-policy pseudo\n",
		"x.machine:2: L2-policy is 'lru', 'tree-plru', 'bit-plru', 'random', 'srrip' or "
		"'qlru', not 'pseudo'",
		""},
	{"[caches]\nLL-inclusion exlusive\n",
		"x.machine:2: LL-inclusion is 'neither', 'inclusive' or 'exclusive'",
		"'exclusive'"},
	{"[caches]\nLL 32M 16-way 128-byte 50-cycle\nLL-inclusion exclusive\n",
		"x.machine:3: LL-inclusion cannot be: an exclusive LL needs the line size of the "
		"level before it: L2 has 64 bytes, LL 128",
		"neither or inclusive"},
	{"[caches]\nL2 1M 8-way 128-byte 14-cycle\nLL none\nL2-inclusion exclusive\n",
		"x.machine:4: L2-inclusion cannot be: an exclusive L2 needs the line size of the "
		"level before it: L1I has 64 bytes, L2 128",
		"lines of the same length"},
	{"[tlbs]\nDTLB 96-entry full\nDTLB-policy tree-plru\n",
		"x.machine:3: DTLB-policy cannot be: its policy needs sets of up to 64 ways, and "
		"DTLB has 96",
		"take lru or random, or fewer ways"},
	{"[caches]\nLL 64M 64-way 64-byte 50-cycle\nLL-policy qlru\n",
		"x.machine:3: LL-policy cannot be: its policy needs sets of up to 32 ways, and LL "
		"has 64",
		"take lru or random, tree-plru or bit-plru, or fewer ways"},
	{"[tlbs]\nDTLB-2M none\n", "x.machine:2: DTLB-2M cannot be none", "'split'"},
	{"[tlbs]\nDTLB-2M shared 4-way\n", "x.machine:2: unexpected '4-way'", ""},
	{"[tlbs]\nDTLB-2M 32-entry\n", "x.machine:2: DTLB-2M lacks its associativity", ""},
	{"[tlbs]\nDTLB-2M 24-entry 4-way\n", "x.machine:2: DTLB-2M cannot be: 6 sets",
		"take 3-way or 6-way"},
	{"[tlbs]\nlarge-pages always\n", "x.machine:2: large-pages is 'never' or 'kernel'", ""},
	{"[prefetch]\nL1D-next 17-line\n", "x.machine:2: L1D-next: 17-line is out of range", ""},
	{"[prefetch]\nL1D-next on\n", "x.machine:2: L1D-next: invalid 'on'",
		"'L1D-next 2-line', or 'L1D-next off'"},
	{"[prefetch]\nL1D-stride 64-entry\n", "x.machine:2: L1D-stride: missing part", ""},
	{"[prefetch]\nL1D-stride 64-entry 4-ahead 2-line\n",
		"x.machine:2: L1D-stride: invalid '2-line'", "64-entry 4-ahead'"},
	{"[prefetch]\nL2-stream 16-entry 16-entry 1-line\n",
		"x.machine:2: L2-stream: '16-entry' repeats a part", ""},
	{"[prefetch]\nL2-stream off 16-entry\n", "x.machine:2: unexpected '16-entry'", ""},
	{"[machine]\nsemantics cachegrind\n[caches]\nL2 none\n[prefetch]\nL1D-next 1-line\n",
		"x.machine:6: L1D-next cannot be: the semantics of cachegrind need 'off'",
		"semantics native"},
	{"[machine]\nsemantics cachegrind\n[caches]\nL2 none\nLL-policy random\n",
		"x.machine:5: LL-policy cannot be: the semantics of cachegrind need 'lru'",
		"semantics native"},
	{"[machine]\nsemantics cachegrind\n[caches]\nL2 none\nLL-inclusion inclusive\n",
		"x.machine:5: LL-inclusion cannot be: the semantics of cachegrind need 'neither'",
		""},
	{"[machine]\nsemantics cachegrind\n",
		"x.machine: invalid machine: L2: the semantics of cachegrind need 'L2 none'",
		"semantics native"},
	{"[machine]\nsemantics cachegrind\n[caches]\nL2 none\nLL 72K 12-way 64-byte 1-cycle\n",
		"x.machine:5: LL cannot be: 96 sets: cachegrind", "take 9-way or 18-way"},
	/* What several lines say together. */
	{"[caches]\nL2 1M 8-way 32-byte 14-cycle\nLL none\n",
		"x.machine:2: L2 cannot be: its lines of 32 bytes are shorter than the 64 of L1I",
		"give L2 64-byte lines"},
	{"[caches]\nL1D 32K 8-way 128-byte 4-cycle\n",
		"x.machine: invalid machine: L2: its lines of 64 bytes are shorter than the "
		"128 of L1D",
		"give L2 128-byte lines, or L1D"},
	{"[caches]\nL2 1M 8-way 128-byte 14-cycle\n",
		"x.machine: invalid machine: LL: its lines of 64 bytes are shorter than the "
		"128 of L2",
		""},
	{"[caches]\nL2 none\nLL 1M 8-way 32-byte 14-cycle\n",
		"x.machine:3: LL cannot be: its lines of 32 bytes are shorter than the 64 of L1I",
		""},
	{"[caches]\nL1I none\n", "x.machine:2: L1I cannot be: a machine needs both",
		"'L1I 32K 8-way"},
	{"[caches]\nL2 none\nLL-inclusion exclusive\nL1D 32K 8-way 32-byte 4-cycle\n",
		"x.machine:3: LL-inclusion cannot be: an exclusive LL needs the line size of the "
		"level before it: L1D has 32 bytes, LL 64",
		""},
	{"[caches]\nL1I 64K full 64-byte 4-cycle\nL1I-policy bit-plru\n",
		"x.machine:3: L1I-policy cannot be: its policy needs sets of up to 64 ways, and "
		"L1I "
		"has 1024",
		"take lru or random, or fewer"},
	{"[caches]\nL1D-policy srrip\nL1D 64K 48-way 64-byte 4-cycle\n",
		"x.machine:3: L1D cannot be: 65536 bytes do not divide", "take 32-way or 64-way"},
	{"[tlbs]\nSTLB-2M 1024-entry full\nSTLB-policy qlru\n",
		"x.machine:3: STLB-policy cannot be: its policy needs sets of up to 32 ways, and "
		"STLB-2M has 1024",
		""},
	{"[tlbs]\nITLB-policy srrip\n",
		"x.machine:2: ITLB-policy cannot be: its policy needs sets of up to 32 ways, and "
		"ITLB has 64",
		""},
	{"[machine]\ncores 64\n[caches]\nL2 1G 16-way 64-byte 14-cycle\n",
		"x.machine:2: cores cannot be: the caches of 64 cores together take more than 1G",
		"cores or fewer"},
	{"[machine]\nsemantics cachegrind\n[caches]\nL2 none\nLL none\n",
		"x.machine:5: LL cannot be: the semantics of cachegrind need 'LL 8M",
		"semantics native"},
	{"[machine]\nsemantics cachegrind\n[caches]\nL2 none\n[prefetch]\nL2-stream 4-entry "
	 "2-ahead 1-line\n",
		"x.machine:6: L2-stream cannot be: the semantics of cachegrind need 'off'", ""},
	/* Numbers out of their limits. */
	{"[caches]\nL1D 1000 8-way 64-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: 1000 bytes do not divide", "take 512 or 1024 bytes"},
	{"[caches]\nL1D 32 8-way 64-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: a set of 8 ways of 64 bytes is larger",
		"at least 64 bytes"},
	{"[caches]\nL1D 32K 8-way 8-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: a line of 8 bytes", "take 16-byte"},
	{"[caches]\nL1D 32K 2-way 8192-byte 4-cycle\n",
		"x.machine:2: L1D cannot be: a line of 8192 bytes", "take 4096-byte"},
	{"[caches]\nL1D 32K 8-way 64-byte 10001-cycle\n",
		"x.machine:2: L1D 10001 is out of range, 0 to 10000", ""},
	{"[caches]\nL1D 0 8-way 64-byte 4-cycle\n", "x.machine:2: L1D: 0 is out of range", ""},
	{"[caches]\nmemory 0-cycle\n", "x.machine:2: memory 0 is out of range, 1 to 100000", ""},
	{"[caches]\nmemory 300\n", "x.machine:2: memory '300' is not a number of cycles", ""},
	{"[caches]\nmemory 300-ns\n", "x.machine:2: memory '300-ns' is not a number of cycles", ""},
	{"[tlbs]\nDTLB 65537-entry full\n",
		"x.machine:2: DTLB cannot be: 65537 entries: a TLB has at most", "65536-entry"},
	{"[tlbs]\nDTLB 0-entry full\n", "x.machine:2: DTLB: 0-entry is out of range", ""},
	{"[tlbs]\nSTLB 1280-entry 6-way 5-cycle\n",
		"x.machine:2: STLB cannot be: 1280 entries do not divide", "take 5-way or 10-way"},
	{"[tlbs]\npage 2G\n", "x.machine:2: page 2147483648 is out of range, 4096 to 1073741824",
		""},
	{"[pipeline]\nwidth 0\n", "x.machine:2: width 0 is out of range, 1 to 32", ""},
	{"[pipeline]\nwidth 33\n", "x.machine:2: width 33 is out of range", ""},
	{"[pipeline]\nwidth 4.5\n", "x.machine:2: width '4.5' is not a whole number", ""},
	{"[pipeline]\nwindow 5000\n", "x.machine:2: window 5000 is out of range, 1 to 4096", ""},
	{"[pipeline]\nstore-buffer 0\n", "x.machine:2: store-buffer 0 is out of range, 1 to 256",
		""},
	{"[pipeline]\nmisses 65\n", "x.machine:2: misses 65 is out of range, 0 to 64", ""},
	{"[pipeline]\nmisprediction 3-cycle\n", "x.machine:2: unknown keyword 'misprediction'",
		"'mispredict'"},
	{"[branches]\nentries 8\n", "x.machine:2: entries 8 is out of range, 16 to 1048576", ""},
	{"[branches]\nreturn-stack 0\n", "x.machine:2: return-stack 0 is out of range, 1 to 256",
		""},
	{"[prefetch]\nL2-stream 257-entry 1-ahead 1-line\n",
		"x.machine:2: L2-stream: 257-entry is out of range, 1 to 256", ""},
	{"[prefetch]\nL2-stream 16-entry 65-ahead 1-line\n",
		"x.machine:2: L2-stream: 65-ahead is out of range, 1 to 64", ""},
	{"[prefetch]\nL2-adjacent yes\n", "x.machine:2: L2-adjacent is 'off' or 'on', not 'yes'",
		""},
};

static void errors(void)
{
	char longest[400] = "[machine]\nname ";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int status = parse(bad[i].text);

		ok(status == -1 && e.code == ERR_PARSE &&
				strncmp(e.message, bad[i].message, strlen(bad[i].message)) == 0,
			"refused: %s", e.message);
		if (strncmp(e.message, bad[i].message, strlen(bad[i].message)))
			printf("# want: %s\n", bad[i].message);
		if (strstr(e.message, "cannot be: "))
			ok(e.hint[0], "what cannot be comes with what could: %s", e.hint);
		if (bad[i].hint[0])
			ok(strstr(e.hint, bad[i].hint) != NULL, "hint: %s", e.hint);
	}
	memset(longest + strlen(longest), 'x', 300);
	is_int(parse(longest), -1, "a word that never ends: %s", e.message);
	is_int(machine_parse("[machine]\nname a\0b\n", 20, "x", &m, &e), -1, "a NUL: %s",
		e.message);
}

int main(void)
{
	errors();
	return done();
}
