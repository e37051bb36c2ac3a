/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module for ssrun -values=latency -values=vp-latency.so: how long loads take, by classes that a
 * file names: vp-latency.so:FILE. A line of it is the least and the greatest time of a class, in ns
 * beyond a load from the first-level cache, and its name:
 *
 *     0 3 D
 *     3 25 B
 *     25 20000 M
 *
 * # begins a comment. A load belongs to the first class that has its time. Without a file, classes
 * are powers of four.
 */
#include <speedshop/values.h>
#include <stdio.h>

struct class
{
	double least, most;
	char name[16];
};

static struct class classes[VP_NAMED] = {{0, 1, "below 1 ns"}, {1, 4, "1 to 4 ns"},
	{4, 16, "4 to 16 ns"}, {16, 64, "16 to 64 ns"}, {64, 256, "64 to 256 ns"},
	{256, 1e9, "above 256 ns"}};
static unsigned class_count = 6;

int vp_version(void)
{
	return VP_VERSION;
}

static int read_classes(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	int bad = !f;

	class_count = 0;
	while (f && !bad && fgets(line, sizeof(line), f)) {
		struct class *c = &classes[class_count];
		char first;

		if (sscanf(line, " %c", &first) != 1 || first == '#')
			continue;
		if (class_count == VP_NAMED ||
			sscanf(line, "%lf %lf %15s", &c->least, &c->most, c->name) != 3 ||
			!(c->least < c->most)) {
			fprintf(stderr, "vp-latency: %s: this is not LEAST MOST NAME: %s", path,
				line);
			bad = 1;
		} else {
			class_count++;
		}
	}
	if (!f)
		perror(path);
	else
		fclose(f);
	return bad || !class_count;
}

int vp_open(const char *text, struct vp_config *config)
{
	(void)config;
	return *text && read_classes(text);
}

unsigned vp_select(const struct vp_insn *insn)
{
	return insn->flags & VP_TIMED;
}

void vp_sample(struct vp_context *x)
{
	for (unsigned i = 0; i < class_count; i++)
		if (x->latency >= classes[i].least && x->latency < classes[i].most) {
			vp_add(x, 0, i);
			return;
		}
}

const char *vp_name(unsigned kind)
{
	return kind ? NULL : "latency";
}

const char *vp_value_name(unsigned kind, uint64_t value)
{
	return kind || value >= class_count ? NULL : classes[value].name;
}
