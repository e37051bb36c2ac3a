/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of the libraries of languages. Much of it is inlined into programs, where only its name and
 * source file show it: std::mutex::lock of C++, Vec::push of Rust.
 */
#include <string.h>

#include "report/report_objects.h"

static bool library_begins(const char *text, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, with[i], strlen(with[i])) == 0)
			return true;
	return false;
}

static bool is_librarys_file(const char *file)
{
	static const char *const roots[] = {
		"/usr/include/", "/usr/lib/gcc/", "/rustc/", "/rust/deps/"};
	static const char *const parts[] = {"/include/c++/", "/lib/rustlib/src/"};

	if (library_begins(file, roots, sizeof(roots) / sizeof(roots[0])))
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(file, parts[i]))
			return true;
	return false;
}

/* "void std::f<int>(long)" is of std. */
static bool is_of_namespace(const char *function, const char *name)
{
	size_t length = strcspn(function, "<(");
	const char *found = strstr(function, name);

	return found && (size_t)(found - function) < length &&
	       (found == function || found[-1] == ' ');
}

/* Only names of Rust begin with "<"; that of an implementation for a type of the program begins
 * with the type. */
static bool is_librarys_name(const char *function)
{
	static const char *const begins[] = {
		"__gthread_", "__rustc::", "__rust_", "<std::", "<core::", "<alloc::"};

	return library_begins(function, begins, sizeof(begins) / sizeof(begins[0])) ||
	       is_of_namespace(function, "std::") || is_of_namespace(function, "__gnu_cxx::");
}

bool report_code_is_library(const struct report_code *c)
{
	return (c->file && is_librarys_file(c->file)) ||
	       (c->function && is_librarys_name(c->function));
}
