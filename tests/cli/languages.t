# SPDX-License-Identifier: GPL-2.0-or-later
# Every experiment on programs of other compilers than C's: Go, whose linker compresses .debug_frame, and Rust; and C
# whose call frame rules are compressed.
# In real time: samples of short runs.
. "$TOP/tests/lib.sh"
as_user() { HOME=$(getent passwd "$(id -u)" | cut -d: -f6) "$@"; }

cat > gospin.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"strconv"
)

//go:noinline
func churn(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * i / (i + 1)
	}
	return
}

func main() {
	total := 0
	rounds, _ := strconv.Atoi(os.Args[1])
	for i := 0; i < rounds; i++ {
		total += churn(1000000)
	}
	fmt.Println(total)
}
EOF
cat > rustspin.rs <<'EOF'
#[inline(never)]
fn churn(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..std::hint::black_box(n) {
        sum += i * i / (i + 1);
    }
    sum
}
fn main() {
    let mut total = 0;
    let rounds: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    for _ in 0..rounds {
        total += churn(1000000);
    }
    println!("{}", total);
}
EOF
cat > packed.c <<'EOF'
#include <stdio.h>
__attribute__((noinline)) long churn(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += i * i / (i + 1);
	__asm__ volatile("");
	return sum;
}
int main(void)
{
	long total = 0;
	for (int i = 0; i < 60; i++)
		total += churn(1000000);
	printf("%ld\n", total);
	return 0;
}
EOF

# name function line-of-its-loop: of the program ./name
experiments() {
	for experiment in pcsamp fpcsamp usertime totaltime branches ideal bbcounts dataspace dsc_hwc gi_hwctime; do
		case $experiment in *_hwc* | ideal | bbcounts | dataspace) rounds=10 ;; *) rounds=90 ;; esac
		run ssrun -$experiment -o "$1.$experiment" "./$1" $rounds
		is "$1, $experiment: it runs" "$status" 0
		run prof -q 5 "$1.$experiment"
		is "... prof reads it" "$status" 0
		case $experiment in dataspace | *_hwc*) ;; *) like "... and knows its function" "$out" "$2" ;; esac
	done
	run prof -butterfly "$1.usertime"
	like "$1: call paths" "$out" "$2"
	run prof -heavy -q 3 "$1.fpcsamp"
	like "... and lines" "$out" "$2.*, ($3|$(($3 + 1)))\)"
}

if command -v go >/dev/null; then
	if GOCACHE=$work/cache as_user go build -o gospin gospin.go 2>go.log; then
		like "Go: .debug_frame is compressed" "$(readelf -SW gospin)" 'debug_frame.* C '
		experiments gospin 'main\.churn' 11
	else
		skip "Go" "go does not build: $(tail -1 go.log)"
	fi
else
	skip "Go" "go is not installed (package golang-go)"
fi

if command -v rustc >/dev/null && as_user rustc --version >/dev/null 2>&1; then
	if as_user rustc -g -O -o rustspin rustspin.rs 2>rust.log; then
		experiments rustspin 'rustspin::churn' 4
		cat > rustgeneric.rs <<-'EOF'
			#[inline(always)]
			fn step(i: u64) -> u64 { i * i / (i + 1) }
			struct Adder<T> { sum: T }
			trait Add { fn add(&mut self, n: u64); }
			impl Add for Adder<u64> {
			    #[inline(never)]
			    fn add(&mut self, n: u64) {
			        self.sum += (0..std::hint::black_box(n)).map(|i| step(i)).sum::<u64>();
			    }
			}
			fn main() {
			    let mut a = Adder::<u64> { sum: 0 };
			    for _ in 0..200 { a.add(1000000); }
			    println!("{}", a.sum);
			}
		EOF
		as_user rustc -g -O -o rustgeneric rustgeneric.rs 2>>rust.log
		run ssrun -usertime -o generic ./rustgeneric
		run prof generic
		like "Rust: methods of generic types" "$out" '<rustgeneric::Adder<u64> as rustgeneric::Add>::add'
		run prof -inlines generic
		like "... functions that were inlined" "$out" 'rustgeneric::step \[inlined\]'
		run prof -calltree generic
		like "... and their callers" "$out" '  rustgeneric::main \('
		cat > rustheap.rs <<-'EOF'
			use std::sync::{Arc, Mutex};
			struct Order { id: u64, customer: String }
			#[inline(never)]
			fn make(id: u64) -> Order { Order { id, customer: format!("customer-{}", id % 977) } }
			#[inline(never)]
			fn waits_for(lock: &Mutex<u64>) -> u64 { *lock.lock().unwrap() }
			fn main() {
			    let v: Vec<Order> = (0..20000).map(make).collect();
			    let lock = Arc::new(Mutex::new(1u64));
			    let held = lock.lock().unwrap();
			    let other = lock.clone();
			    let t = std::thread::spawn(move || waits_for(&other));
			    std::thread::sleep(std::time::Duration::from_millis(200));
			    let sum: usize = v.iter().map(|o| o.id as usize % 3 + o.customer.len()).sum();
			    drop(held);
			    println!("{} {}", sum, t.join().unwrap());
			}
		EOF
		as_user rustc -g -O -o rustheap rustheap.rs 2>>rust.log
		run ssrun -dataspace -o rustheap.data ./rustheap
		run prof -dataspace rustheap.data
		like "Rust: what the program allocates" "$out" 'allocated in rustheap::(make|main) < '
		unlike "... is not of the library that has its allocator" "$out" 'allocated in (alloc|core|std)::'
		run ssrun -ideal -o rustheap.exact ./rustheap
		run prof -butterfly -only malloc rustheap.exact
		like "... which function calls malloc, behind the allocators of its library" "$out" '^ +20000 .* rustheap::make '
		run ssrun -totaltime -o rustheap.waits ./rustheap
		run prof -waits rustheap.waits
		[ "$(id -u)" = 0 ] || out='  rustheap::waits_for [thread'
		like "... and where a thread waits" "$out" ' rustheap::waits_for \[thread'
	else
		skip "Rust" "rustc does not build: $(tail -1 rust.log)"
	fi
else
	skip "Rust" "rustc is not installed (package rustc)"
fi

gcc -O1 -g -gz -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -o packed packed.c
like "C without .eh_frame: .debug_frame is compressed" "$(readelf -SW packed)" 'debug_frame.* C '
run ssrun -usertime -stack dwarf -o packed.usertime ./packed
is "... its call paths" "$status" 0
run prof -butterfly packed.usertime
like "... end in main" "$out" 'main'
rm -rf cache
done_testing
