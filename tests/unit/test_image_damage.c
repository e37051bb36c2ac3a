/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged ELF files: bytes of whole ones changed at random (the same each time), headers first, and
 * every question asked.  Answers may be anything; ends of memory and time may not be overrun. */
#include "../tap.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/file.h"
#include "image/image.h"

#define ROUNDS 1000

static uint32_t state = 1;

static uint32_t rnd(uint32_t limit)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % limit;
}

static int stop_late(void *context, const struct image_symbol *s)
{
	int *left = context;

	return !s->name || --*left < 0;
}

static void ask_all(const char *bytes, size_t size, int *opened)
{
	struct image *image = image_open_memory(bytes, size, "damaged", NULL);
	int left = 100;

	if (!image)
		return;
	++*opened;
	(void)image_symbols(image, stop_late, &left);
	for (uint64_t a = 0x1200; a < 0x1300; a += 0x11) {
		struct image_frame frames[8];
		struct image_line line;
		uint8_t code[8];

		(void)image_symbol_at(image, a);
		(void)image_line_at(image, a, &line);
		(void)image_inlines_at(image, a, frames, 8);
		(void)image_code(image, a, code, sizeof(code));
	}
	(void)image_complaint(image);
	image_close(image);
}

/* Bytes become others; some are extreme, as sizes and offsets like to be. */
static void damage(char *bytes, size_t size, uint32_t round)
{
	static const unsigned char extreme[] = {0, 1, 0x7f, 0x80, 0xff};
	uint32_t changes = 1 + rnd(8), where = round % 3 ? (uint32_t)size : 64;

	for (uint32_t i = 0; i < changes; i++) {
		uint32_t at = rnd(where);

		bytes[at] = (char)(rnd(2) ? extreme[rnd(5)] : rnd(256));
	}
}

static void test_file(const char *directory, const char *name)
{
	char path[1024];
	size_t size = 0;
	char *whole, *copy;
	int opened = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	whole = file_read(path, 0, &size, NULL);
	copy = whole ? malloc(size) : NULL;
	if (!copy) {
		ok(false, "reading %s", path);
		free(whole);
		return;
	}
	ask_all(whole, size, &opened);
	ok(opened == 1, "%s is whole", name);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		memcpy(copy, whole, size);
		damage(copy, size, round);
		ask_all(copy, round % 5 ? size : rnd((uint32_t)size), &opened);
	}
	ok(opened > ROUNDS / 4, "... %d times damaged, %d times still an image", ROUNDS,
		opened - 1);
	/* no section headers: what sstrip leaves */
	memcpy(copy, whole, size);
	memset(copy + 40, 0, 8);
	memset(copy + 60, 0, 4);
	opened = 0;
	ask_all(copy, size, &opened);
	is_int(opened, 1, "... without section headers");
	free(copy);
	free(whole);
}

static void test_no_sections(const char *directory)
{
	const struct image_symbol *s;
	char path[1024];
	size_t size = 0;
	struct image *image;
	char *bytes;

	snprintf(path, sizeof(path), "%s/bare", directory);
	bytes = file_read(path, 0, &size, NULL);
	if (!bytes)
		return;
	memset(bytes + 40, 0, 8);
	memset(bytes + 60, 0, 4);
	image = image_open_memory(bytes, size, "bare", NULL);
	s = image ? image_symbol_at(image, 0x1205) : NULL;
	ok(s && s->guessed && s->address == 0x1200,
		"without sections: the function by its frame rules");
	is_str(s ? s->name : NULL, "code+0x200", "... and a name of where it is");
	is_str(image ? image_complaint(image) : NULL, "it has no symbols", "... and a complaint");
	image_close(image);
	free(bytes);
}

int main(void)
{
	const char *top = getenv("TOP") ? getenv("TOP") : ".";
	char directory[512];
	struct dirent **names;
	int count;

	snprintf(directory, sizeof(directory), "%s/tests/fuzz/seeds/image", top);
	count = scandir(directory, &names, NULL, alphasort);
	ok(count > 2, "there are files to damage");
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.')
			test_file(directory, names[i]->d_name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	test_no_sections(directory);
	return done();
}
