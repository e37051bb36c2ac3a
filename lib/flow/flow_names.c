/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "flow/flow.h"

/* A * stands for anything. */
static const char *const never[] = {"abort", "exit", "_exit", "_Exit", "quick_exit", "__assert",
	"__assert_fail", "__assert_perror_fail", "__stack_chk_fail", "__fortify_fail", "__chk_fail",
	"__libc_fatal", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "err", "errx", "verr",
	"verrx", "pthread_exit", "_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast",
	"__cxa_bad_typeid", "__cxa_throw_bad_array_new_length", "__cxa_pure_virtual",
	"__cxa_call_unexpected", "__cxa_call_terminate", "__clang_call_terminate",
	"std::terminate*", "_ZSt9terminatev", "std::__throw_*", "_ZSt*__throw_*",
	"__libc_start_main", "__GI_abort", "__GI_exit", "__GI__exit", "core::panicking::*",
	"core::result::unwrap_failed", "core::option::unwrap_failed", "core::option::expect_failed",
	"core::slice::index::slice_*_fail", "std::panicking::begin_panic*", "rust_begin_unwind",
	"rust_panic", "_gfortran_stop_*", "_gfortran_error_stop_*", "_gfortran_runtime_error",
	"_gfortran_runtime_error_at", "_gfortran_os_error_at", "__ubsan_handle_*_abort",
	"__asan_report_*"};

/* '*' matches any run of characters; length bytes of name count. */
static bool matches(const char *pattern, const char *name, size_t length)
{
	const char *star = strchr(pattern, '*');
	size_t head = star ? (size_t)(star - pattern) : strlen(pattern);

	if (!star)
		return length == head && memcmp(name, pattern, head) == 0;
	if (length < head || memcmp(name, pattern, head) != 0)
		return false;
	for (size_t skip = head; skip <= length; skip++)
		if (!star[1] || matches(star + 1, name + skip, length - skip))
			return true;
	return false;
}

bool flow_name_returns(const char *name)
{
	size_t length = strcspn(name, "@"); /* "@plt", "@GLIBC_2.2.5" */

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (matches(never[i], name, length))
			return false;
	return true;
}
