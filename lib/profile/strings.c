/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "profile/places_private.h"

struct string_entry {
	struct {
		uint64_t hash, turn; /* turn: of those with the same hash, which */
	} key;
	char *text;
};

struct table profile_strings_table(void)
{
	return TABLE_OF(struct string_entry);
}

void profile_strings_fini(struct table *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(((struct string_entry *)table_at(strings, i))->text);
	table_fini(strings);
}

long profile_string(struct prof_data *d, const char *text)
{
	struct string_entry key = {.key = {.hash = table_hash(text, strlen(text))}};

	for (;; key.key.turn++) {
		struct string_entry *own = table_add(&d->strings, &key.key);

		if (!own)
			return -1;
		if (!own->text) {
			own->text = strdup(text);
			if (!own->text) {
				d->strings.count--; /* it is the last */
				table_changed(&d->strings);
				return error_nomem(NULL);
			}
		} else if (strcmp(own->text, text) != 0) {
			continue;
		}
		return (long)table_number(&d->strings, own);
	}
}

const char *profile_string_at(const struct prof_data *d, uint32_t index)
{
	return ((const struct string_entry *)table_at(&d->strings, index))->text;
}
