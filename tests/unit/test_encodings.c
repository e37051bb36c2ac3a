/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib/events: every row on every family of processors really encodes, here and now, to what the
 * golden files say.  UPDATE=1 rewrites them; look at the difference, since a wrong code counts
 * something else without a word.
 */
#include "../tap.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "events/encodings.h"
#include "events/event.h"

static const char *type_name(uint32_t type)
{
	static const char *const names[] = {[PERF_TYPE_HARDWARE] = "hardware",
		[PERF_TYPE_SOFTWARE] = "software",
		[PERF_TYPE_HW_CACHE] = "cache",
		[PERF_TYPE_RAW] = "raw"};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "?";
}

/* The golden text of a family.  Returns how many rows are counted, -1 if one that should encode
 * does not. */
static int describe(const char *family, struct strbuf *out)
{
	int counted = 0, bad = 0;

	strbuf_printf(out,
		"# Encodings of the perfex events on %s: number, short name, type, "
		"config[/config1], "
		"source, (what differs)\n",
		family);
	for (int i = 0; i < EV_COUNT; i++) {
		struct event_code code;
		struct error e = {0};

		strbuf_printf(out, "%d %s ", i, event_by_number(i)->short_name);
		if (event_encode_for(family, i, &code, &e) == 0) {
			strbuf_printf(out, "%s %#" PRIx64, type_name(code.type), code.config);
			if (code.config1)
				strbuf_printf(out, "/%#" PRIx64, code.config1);
			strbuf_printf(out, " %s", code.text);
			if (code.note)
				strbuf_printf(out, " (%s)", code.note);
			strbuf_puts(out, "\n");
			counted++;
		} else {
			strbuf_puts(out, "not available\n");
			if (e.code != ERR_UNSUPPORTED || !*e.message || !*e.hint) {
				printf("# %s, event %d: %s\n", family, i, e.message);
				bad++;
			}
		}
	}
	return bad ? -1 : counted;
}

static void compare(const char *family, const char *got)
{
	char path[4096];
	char *want;
	struct error e = {0};

	snprintf(path, sizeof(path), "%s/tests/data/encodings/%s.golden",
		getenv("TOP") ? getenv("TOP") : ".", family);
	if (getenv("UPDATE") && *getenv("UPDATE")) {
		struct file_out f;

		if (file_create(&f, path, &e) == 0 && fputs(got, f.stream) >= 0)
			file_commit(&f, &e);
		if (e.code)
			printf("# %s\n", e.message);
	}
	want = file_read(path, 0, NULL, &e);
	ok(want && strcmp(got, want) == 0, "%s is as the golden file says (UPDATE=1 rewrites it)",
		family);
	for (const char *a = got, *b = want; b && *a && *b;) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || strncmp(a, b, la) != 0)
			printf("# got:  %.*s\n# want: %.*s\n", (int)la, a, (int)lb, b);
		a += la + (a[la] == '\n');
		b += lb + (b[lb] == '\n');
	}
	free(want);
}

static void families(void)
{
	static const char generic[] = "generic";
	const char *const *family = event_families();

	for (size_t i = 0;; i++) {
		const char *name = family[i] ? family[i] : generic;
		struct strbuf text = {0};

#if !defined(__x86_64__)
		if (name != generic && strcmp(name, "neoverse-n1") != 0) {
			skip("libpfm4 has the tables of x86 on x86 alone");
			continue;
		}
#endif
		int counted = describe(name, &text);

		ok(counted >= 0, "%s: every row that the table gives encodes", name);
		if (name != generic && strcmp(name, "neoverse-n1") != 0)
			ok(counted >= 40, "%s counts at least 40 events, %d", name, counted);
		compare(name, strbuf_text(&text));
		strbuf_fini(&text);
		if (!family[i])
			break;
	}
}

/* A description written for one processor must not be copied into another's rows. */
static void sources(void)
{
	static const struct {
		const char *family, *pmu;
	} prefixes[] = {
		{"zen2", "amd64_fam17h_zen2::"},
		{"zen3", "amd64_fam19h_zen3::"},
		{"zen4", "amd64_fam19h_zen4::"},
		{"skl", "skl::"},
		{"icx", "icx::"},
		{"spr", "spr::"},
	};
	int bad = -1;

#if !defined(__x86_64__)
	skip("libpfm4 has the tables of x86 on x86 alone");
	return;
#endif
	for (size_t f = 0; f < sizeof(prefixes) / sizeof(prefixes[0]); f++)
		for (int i = 0; i < EV_COUNT; i++) {
			struct event_code code;

			if (event_encode_for(prefixes[f].family, i, &code, NULL) == 0 &&
				strstr(code.text, "::") &&
				strncmp(code.text, prefixes[f].pmu, strlen(prefixes[f].pmu)) != 0)
				bad = i;
		}
	is_int(bad, -1, "each family's strings are its own");
}

static void identities(void)
{
	static const struct {
		int a, b;
	} same[] = {{0, 16}, {17, 15}, {20, 62}, {6, 53}};
	struct event_code a, b;
	int bad = -1;

	/* Two rows for one event must not drift apart (Arm counts 6 and 53, 20 and 62 differently).
	 */
	for (const char *const *f = event_families(); *f; f++)
		for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
			int ra, rb;

			if (i >= 2 && strcmp(*f, "neoverse-n1") == 0)
				continue;
			ra = event_encode_for(*f, same[i].a, &a, NULL);
			rb = event_encode_for(*f, same[i].b, &b, NULL);
			if (ra != rb || (ra == 0 && a.config != b.config))
				bad = same[i].a;
		}
	is_int(bad, -1, "rows that repeat each other encode alike");
}

static void host(void)
{
	static const struct {
		const char *vendor;
		unsigned family, model;
		const char *name;
	} cases[] = {
		{"AuthenticAMD", 0x17, 0x01, "generic"},
		{"AuthenticAMD", 0x17, 0x31, "zen2"},
		{"AuthenticAMD", 0x17, 0x71, "zen2"},
		{"AuthenticAMD", 0x19, 0x01, "zen3"},
		{"AuthenticAMD", 0x19, 0x21, "zen3"},
		{"AuthenticAMD", 0x19, 0x11, "zen4"},
		{"AuthenticAMD", 0x19, 0x61, "zen4"},
		{"AuthenticAMD", 0x19, 0xa0, "zen4"},
		{"AuthenticAMD", 0x1a, 0x02, "generic"},
		{"HygonGenuine", 0x18, 0x00, "generic"},
		{"GenuineIntel", 6, 0x55, "skl"},
		{"GenuineIntel", 6, 0x9e, "skl"},
		{"GenuineIntel", 6, 0x6a, "icx"},
		{"GenuineIntel", 6, 0x8f, "spr"},
		{"GenuineIntel", 6, 0xcf, "spr"},
		{"GenuineIntel", 6, 0xad, "spr"},
		{"GenuineIntel", 6, 0x97, "generic"},
		{"GenuineIntel", 15, 0x6a, "generic"},
		{"AuthenticAMD", 6, 0x55, "generic"},
	};
	struct event_spec spec;
	struct error e = {0};
	bool known = false;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(host_family_x86(cases[i].vendor, cases[i].family, cases[i].model, false),
			cases[i].name, "%s family %x model %x", cases[i].vendor, cases[i].family,
			cases[i].model);
	is_str(host_family_x86("GenuineIntel", 6, 0x6a, true), "spr",
		"with AMX it is no Ice Lake, whatever a hypervisor says");
	is_str(host_family_x86("AuthenticAMD", 0x1a, 2, true), "generic",
		"AMX of another maker means nothing");
	is_str(host_family_arm(0x413fd0c1), "neoverse-n1", "MIDR of a Neoverse N1");
	is_str(host_family_arm(0x410fd034), "generic", "MIDR of a Cortex-A53");
	is_str(host_family_cpuinfo("processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\n"
				   "CPU part\t: 0xd0c\n"),
		"neoverse-n1", "cpuinfo of a Neoverse N1");
	is_str(host_family_cpuinfo(""), "generic", "cpuinfo that says nothing");

	for (const char *const *f = event_families(); *f; f++)
		known |= strcmp(*f, event_host_family()) == 0;
	ok(known || strcmp(event_host_family(), "generic") == 0, "this host is a %s",
		event_host_family());
	for (int i = EV_PAGE_FAULTS; i <= EV_TASK_CLOCK; i++) {
		char number[8];

		snprintf(number, sizeof(number), "%d", i);
		ok(event_parse(number, &spec, &e) == 0 && event_encode(&spec, &e) == 0 &&
				spec.encoded && spec.code.type == PERF_TYPE_SOFTWARE,
			"the kernel counts '%s' everywhere", spec.name);
	}
	ok(event_parse("gi", &spec, &e) == 0 && event_encode(&spec, &e) == 0 &&
			spec.code.type != PERF_TYPE_SOFTWARE,
		"instructions encode on any host");
	ok(event_parse("ecc", &spec, &e) == 0 && event_encode(&spec, &e) == -1 &&
			e.code == ERR_UNSUPPORTED && *e.hint && !spec.encoded,
		"what no processor counts is said so: %s", e.message);
	ok(event_encode_for("zen44", 0, &spec.code, &e) == -1 && e.code == ERR_NOT_FOUND &&
			strstr(e.hint, "'zen4'"),
		"a family that is none names the nearest");
	ok(event_encode_for("zen4", 71, &spec.code, &e) == -1 && e.code == ERR_RANGE,
		"nor is there a row 71");
}

int main(void)
{
	families();
	sources();
	identities();
	host();
	return done();
}
