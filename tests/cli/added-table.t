# SPDX-License-Identifier: GPL-2.0-or-later
# A table more in experiments: a line of the list in lib/experiment/tables.h and a file that describes its rows.
# What is built here with these two settles, merges, copies, writes, reads and dumps it.
. "$TOP/tests/lib.sh"

mkdir lib
cp -r "$top/lib/experiment" lib/experiment
chmod -R u+w lib
sed -i 's/TABLE(PAUSES, pauses)$/& TABLE(SEEN, seen)/' lib/experiment/tables.h
cat > lib/experiment/seen.c <<-'END'
	/* Values that instructions loaded. */
	#include "experiment/experiment.h"

	struct experiment_loaded {
		struct {
			uint64_t address, value;
			uint32_t image, reserved;
		} key;
		uint64_t count;
	};

	static const struct row_field seen_fields[] = {
		{ROW_KEY(experiment_loaded, image), .reference = EXPERIMENT_IMAGES},
		{ROW_KEY(experiment_loaded, address), .coding = ROW_STEP, .hex = 1},
		{ROW_KEY(experiment_loaded, value)},
		{ROW_FIELD(experiment_loaded, count), .positive = 1},
	};

	const struct row_kind experiment_seen_kind = {
		ROW_KIND(experiment_loaded, seen_fields, 3), .type = "SEEN", .word = "seen"};

	int experiment_add_seen(struct experiment *x, uint32_t image, uint64_t address, uint64_t value);
	int experiment_add_seen(struct experiment *x, uint32_t image, uint64_t address, uint64_t value)
	{
		const struct experiment_loaded row = {.key = {address, value, image}, .count = 1};

		return row_add(&x->seen, &experiment_seen_kind, &row) < 0 ? -1 : 0;
	}
END
is "which is fewer than 40 lines" "$(($(wc -l < lib/experiment/seen.c) + 1 < 40))" 1

cat > values.c <<-'END'
	#include "experiment/dump.h"
	#include "experiment/file.h"
	#include "experiment/merge.h"

	int experiment_add_seen(struct experiment *x, uint32_t image, uint64_t address, uint64_t value);

	/* One whose image 1 is path, where address 0x40 loaded 7 twice and what is given once. */
	static int made(struct experiment *x, const char *path, uint64_t value, struct error *e)
	{
		const struct experiment_image image = {EXPERIMENT_IMAGE_ELF, .path = (char *)path};

		return experiment_init(x, e) || experiment_image(x, &image, e) != 1 ||
		       experiment_add_seen(x, 1, 0x40, 7) || experiment_add_seen(x, 1, 0x40, value) ||
		       experiment_add_seen(x, 1, 0x40, 7);
	}

	int main(void)
	{
		struct experiment a, b, copy, sum, read;
		struct error e;

		if (made(&a, "/b", 9, &e) || made(&b, "/a", 5, &e) || experiment_merge_begin(&sum, &e) ||
			experiment_merge(&sum, &a, 0, &e) || experiment_merge(&sum, &b, 0, &e) ||
			experiment_merge(&sum, &b, 0, &e) || experiment_copy(&copy, &sum, &e) ||
			experiment_write(&copy, "values.exp", &e) || experiment_read(&read, "values.exp", NULL, &e))
			return 1;
		experiment_dump(&read, 0, stdout);
		experiment_fini(&a);
		experiment_fini(&b);
		experiment_fini(&copy);
		experiment_fini(&sum);
		experiment_fini(&read);
		return 0;
	}
END
# shellcheck disable=SC2086 # words
ok "experiments with it are built" ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra ${SAN:+-fsanitize=$SAN} -Ilib -I"$top/lib" \
	-o values values.c lib/experiment/*.c "$build/lib/libtoolkit.a" -lz -lpthread -lm
run ./values
is "it is settled, merged, copied, written, read and printed" "$status $(printf '%s\n' "$out" | grep -E '^(image|seen)')" \
	"0 image 1 elf \"/a\"
image 2 elf \"/b\"
seen image 1 address 40 value 5 count 2
seen image 1 address 40 value 7 count 4
seen image 2 address 40 value 7 count 2
seen image 2 address 40 value 9 count 1"
run prof -dump values.exp
is "a prof that does not know it leaves it out" "$status $(printf '%s\n' "$out" | grep -cE '^(image|seen)')" "0 2"
done_testing
