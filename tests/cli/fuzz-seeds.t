# SPDX-License-Identifier: GPL-2.0-or-later
# The fuzz targets survive their seeds, whole and cut short, and what was kept of long runs (tests/fuzz/keep).
. "$TOP/tests/lib.sh"
mkdir kept
ok "inputs that were kept" tar -xJf "$top/tests/fuzz/kept.tar.xz" -C kept
for dir in "$top"/tests/fuzz/seeds/*/; do
	name=$(basename "$dir")
	for seed in "$dir"*; do
		size=$(wc -c < "$seed")
		for part in 1 2 3; do
			head -c $((size * part / 3)) "$seed" > "cut-$(basename "$seed")-$part"
		done
	done
	ok "$name: $(find "$dir" -type f | wc -l) seeds, and cut short" "$build/tests/replay/$name" "$dir"* cut-*
	rm -f cut-*
	[ ! -d "kept/$name" ] || ok "$name: $(find "kept/$name" -type f | wc -l) inputs that were kept" "$build/tests/replay/$name" "kept/$name"/*
done
done_testing
