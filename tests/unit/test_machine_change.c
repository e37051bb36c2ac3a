/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/machine: changes to single fields, "zen4:L2=512K". */
#include "../tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "build_data.h"
#include "machine/private.h"

static struct machine m, zen4;
static struct error e;

static int find(const char *name)
{
	memset(&e, 0, sizeof(e));
	return machine_find(name, &m, &e);
}

static void changes(void)
{
	is_int(find("zen4:L2=512K"), 0, "one part of a cache: %s", e.message);
	ok(m.model.l2.size == 512 << 10 && m.model.l2.ways == zen4.model.l2.ways &&
			m.model.l2.line == 64 && m.model.l2.latency == zen4.model.l2.latency,
		"the other parts stay");
	zen4.model.l2.size = 512 << 10;
	ok(memcmp(&m.model, &zen4.model, sizeof(m.model)) == 0, "and so does all else");
	zen4.model.l2.size = 1 << 20;
	is_str(m.name, "zen4+", "the name says that it is not the one it was");
	is_str(m.costs, "zen4", "the costs are as they were");
	ok(strstr(m.description, ", with L2=512K") != NULL, "%s", m.description);

	is_int(find("zen4:LL=none,mispredict=20-cycle,DTLB=96-entry,clock=2.5 GHz,STLB=9-cycle"), 0,
		"several: %s", e.message);
	ok(m.model.ll.size == 0 && m.model.mispredict_penalty == 20 &&
			m.model.clock_hz == 2500000000 && m.model.stlb_latency == 9 &&
			m.model.stlb.entries == zen4.model.stlb.entries,
		"all done");
	ok(m.model.dtlb.entries == 96 && m.model.dtlb.ways == 96, "full stays full");
	is_int(find("zen4:L2= 2M\t64-byte 16-way ,LL-policy=random"), 0, "blanks: %s", e.message);
	ok(m.model.l2.ways == 16 && m.model.policy[MODEL_LL] == MODEL_RANDOM, "as in a file");
	is_int(find("r10000:LL=8M 8-way 128-byte 30-cycle"), 0, "a level that was not there: %s",
		e.message);
	ok(m.model.ll.size == 8 << 20 && m.model.ll.line == 128, "is there now");
	is_int(find("zen4:name=mine,costs=spr,description=all mine"), 0, "names: %s", e.message);
	ok(strcmp(m.name, "mine") == 0 && strcmp(m.costs, "spr") == 0 &&
			strcmp(m.description, "all mine") == 0,
		"are what was said");
	is_int(find("host:cores=3"), 0, "this host: %s", e.message);
	ok(m.model.cores == 3 && strcmp(m.name, "host+") == 0 && strchr(m.family, '+'), "%s",
		m.family);
	is_int(find("cachegrind:I1=16384,2,32"), 0, "cachegrind's own are no changes: %s",
		e.message);
}

static void files(void)
{
	char path[64], name[100];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/test_machine:%ld.machine", (long)getpid());
	f = fopen(path, "w");
	if (!ok(f != NULL, "%s", path))
		return;
	fputs("[machine]\nname own\n", f);
	fclose(f);
	is_int(find(path), 0, "a file with a colon in its name: %s", e.message);
	is_str(m.name, "own", "is read");
	unlink(path);
	snprintf(path, sizeof(path), "/tmp/test_machine_%ld.machine", (long)getpid());
	f = fopen(path, "w");
	fputs("[machine]\nname own\n", f);
	fclose(f);
	snprintf(name, sizeof(name), "%s:width=2", path);
	is_int(find(name), 0, "a file, changed: %s", e.message);
	ok(strcmp(m.name, "own+") == 0 && m.model.width == 2, "width 2");
	unlink(path);
	is_int(find(name), -1, "a file that is not there: %s", e.message);
}

static const struct bad {
	const char *name, *message, *hint;
} bad[] = {
	{"zen4:", "zen4: '' is not KEY=VALUE", "zen4:L2=512K"},
	{"zen4:L2", "zen4: 'L2' is not KEY=VALUE", "KEY=VALUE"},
	{"zen4:L2=512K,", "zen4: '' is not KEY=VALUE", ""},
	{"zen4:L2=", "zen4: L2 has no value", ""},
	{"zen4:=4", "zen4: unknown keyword ''", "perfex-machine(5)"},
	{"zen4:L3=4M", "zen4: unknown keyword 'L3'", "'LL'"},
	{"zen4:L2=1M,LL=none,L2=2M", "zen4: L2 is given twice", ""},
	{"zen4:L2=7-way", "zen4: L2 cannot be: 1048576 bytes do not divide", "take 4-way or 8-way"},
	{"zen4:L2=512K 256K", "zen4: L2: '256K' repeats a part", ""},
	{"zen4:width=4 5", "zen4: unexpected '5' after width", ""},
	{"zen4:cores=65", "zen4: cores 65 is out of range, 1 to 64", ""},
	{"zen4:LL=64-way,LL-policy=qlru",
		"zen4: LL-policy cannot be: its policy needs sets of up to 32", "fewer ways"},
	{"zen4:L2=32-byte", "zen4: L2 cannot be: its lines of 32 bytes are shorter", "64-byte"},
	{"zen4:semantics=cachegrind", "zen4: invalid machine: L2: the semantics of cachegrind", ""},
	{"r10000:LL=8M", "r10000: LL lacks its associativity", ""},
	{"zen4:L2=512K\n", "zen4: a control character (0x0a)", ""},
	{"zen4:name=x,description=#", "zen4: a '#' in a change", "a comment"},
	{"zen44:L2=512K", "'zen44' is neither a machine", "'zen4'"},
	{":L2=512K", "'' is neither a machine", ""},
	{"./no/file:L2=512K", "", ""},
};

static void errors(void)
{
	char longest[3000] = "zen4:";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(find(bad[i].name) == -1 &&
				strncmp(e.message, bad[i].message, strlen(bad[i].message)) == 0,
			"refused: %s", e.message);
		if (bad[i].hint[0])
			ok(strstr(e.hint, bad[i].hint) != NULL, "hint: %s", e.hint);
	}
	memset(longest + 5, 'x', sizeof(longest) - 6);
	is_int(find(longest), -1, "a keyword without an end");
	memcpy(longest + 5, "L2=", 3);
	is_int(find(longest), -1, "a value without an end: %s", e.message);
}

int main(void)
{
	build_data();
	machine_find("zen4", &zen4, &e);
	changes();
	files();
	errors();
	return done();
}
