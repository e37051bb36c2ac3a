/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes profiles in the format of model/wire/profile.h, for tests of the reader. */
#ifndef TESTS_PROFILE_BYTES_H
#define TESTS_PROFILE_BYTES_H

#include <stdint.h>
#include <string.h>

#include "model/wire/profile.h"
#include "model/wire/shared.h"

struct out {
	uint8_t data[65536];
	size_t length, section;
};

__attribute__((unused)) static void out_raw(struct out *o, const void *data, size_t n)
{
	memcpy(o->data + o->length, data, n);
	o->length += n;
}

__attribute__((unused)) static void out_v(struct out *o, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		o->data[o->length++] = (uint8_t)(value | 0x80);
	o->data[o->length++] = (uint8_t)value;
}

__attribute__((unused)) static void out_z(struct out *o, int64_t value)
{
	out_v(o, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

__attribute__((unused)) static void out_vs(struct out *o, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out_v(o, values[i]);
}
#define OUT_V(o, ...)                                                                              \
	out_vs((o), (const uint64_t[]){__VA_ARGS__},                                               \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

__attribute__((unused)) static void out_s(struct out *o, const char *text)
{
	out_v(o, strlen(text));
	out_raw(o, text, strlen(text));
}

__attribute__((unused)) static void out_begin(struct out *o, int32_t pid, uint32_t state)
{
	struct model_profile_header h = {.magic = MODEL_PROFILE_MAGIC,
		.version = MODEL_PROFILE_VERSION,
		.state = state,
		.pid = pid,
		.instructions = 1000,
		.offset = sizeof(h),
		.command = "test"};

	memset(o, 0, sizeof(*o));
	out_raw(o, &h, sizeof(h));
}

__attribute__((unused)) static void out_section(struct out *o, uint32_t type)
{
	struct model_profile_section s = {.type = type};

	out_raw(o, &s, sizeof(s));
	o->section = o->length;
}

__attribute__((unused)) static void out_section_end(struct out *o)
{
	uint64_t length = o->length - o->section;

	memcpy(o->data + o->section - sizeof(length), &length, sizeof(length));
}

__attribute__((unused)) static void out_end(struct out *o)
{
	struct model_profile_header h;

	out_section(o, MODEL_SECTION_END);
	memcpy(&h, o->data, sizeof(h));
	h.length = o->length - h.offset;
	memcpy(o->data, &h, sizeof(h));
}

/* A heap object, allocated by a call at 0x1010, and a frame on a stack: what OBJECTS and the
 * sections behind it can say. */
__attribute__((unused)) static void out_objects(struct out *o, int32_t pid)
{
	const uint64_t bias = 0x400000;

	out_begin(o, pid, MODEL_STATE_FINISHED);
	out_section(o, MODEL_SECTION_OBJECTS);
	OUT_V(o, MODEL_OBJECT_HEAP, 0, 0, 0, 0, 1, 2, 560, 16);
	out_s(o, "");
	OUT_V(o, MODEL_OBJECT_STACK, 1, bias + 0x1234, 0, 2, 0, 0, 0, 0);
	out_s(o, "");
	out_section_end(o);
	out_section(o, MODEL_SECTION_OBJECT_PLACES);
	out_v(o, 1);
	out_z(o, -1);
	OUT_V(o, 0, 2, 25, 7, 26, 3);
	out_section_end(o);
	out_section(o, MODEL_SECTION_OBJECT_TOUCHES);
	OUT_V(o, 1, 1, bias + 0x1100);
	out_z(o, -8);
	out_z(o, 272);
	OUT_V(o, 280, 1, 25, 7);
	out_section_end(o);
	out_section(o, MODEL_SECTION_OBJECT_LINES);
	out_v(o, 1);
	out_z(o, 64);
	OUT_V(o, 64, 9, 1, 7, 2);
	OUT_V(o, 0, 1, 1, bias + 0x1100, 4, 8, 8, 0xff, 0, 0xff, 0);
	OUT_V(o, 1, 2, 1, bias + 0x1104, 5, 0, 8, 0, 0, 0xff00, 0);
	out_section_end(o);
	out_section(o, MODEL_SECTION_OBJECTS_LOST);
	out_v(o, 2);
	out_section_end(o);
	out_section(o, MODEL_SECTION_NODES);
	OUT_V(o, 0, 1, bias + 0x1010, 5);
	out_section_end(o);
	out_section(o, MODEL_SECTION_IMAGES);
	OUT_V(o, 1, bias + 0x1000, 0x1000, 0, bias);
	out_s(o, "/bin/it");
	out_v(o, 4);
	out_raw(o, "0123", 4);
	out_section_end(o);
	out_end(o);
}

#endif
