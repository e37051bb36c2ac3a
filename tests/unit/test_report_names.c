/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short forms of names, one by one and in a report. */
#include <string.h>

#include "../tap.h"
#include "report/report_names.h"

static const struct {
	const char *full, *parameters, *inner, *arguments;
} forms[] = {
	{"main", "main", "main", "main"},
	{"f(int, char const*)", "f(...)", "f(...)", "f(...)"},
	{"f()", "f()", "f()", "f()"},
	{"a::b<int>::f(int) const", "a::b<int>::f(...) const", "a::b<int>::f(...) const",
		"a::b<...>::f(...) const"},
	{"void sort<std::vector<std::pair<int, long>>>(std::vector<int>&)",
		"sort<std::vector<std::pair<int, long>>>(...)", "sort<std::vector<...>>(...)",
		"sort<...>(...)"},
	{"std::map<int, X<Y<int>>, std::less<int>>::operator[](int&&)",
		"std::map<int, X<Y<int>>, std::less<int>>::operator[](...)",
		"std::map<int, X<...>, std::less<...>>::operator[](...)",
		"std::map<...>::operator[](...)"},
	{"bool operator<<int>(A<int> const&, A<int> const&)", "operator<<int>(...)",
		"operator<<int>(...)", "operator<<int>(...)"},
	{"A<char> std::operator+<char>(A<char> const&, char const*)", "std::operator+<char>(...)",
		"std::operator+<char>(...)", "std::operator+<...>(...)"},
	{"U<long>::operator()<E<int> >(E<int>&)", "U<long>::operator()<E<int> >(...)",
		"U<long>::operator()<E<...> >(...)", "U<...>::operator()<...>(...)"},
	{"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>(...)",
		"operator< <int>(...)", "operator< <...>(...)"},
	{"A<int>::operator()(int) const", "A<int>::operator()(...) const",
		"A<int>::operator()(...) const", "A<...>::operator()(...) const"},
	{"A::operator->() const", "A::operator->() const", "A::operator->() const",
		"A::operator->() const"},
	{"(anonymous namespace)::f<B<int>>(int)", "(anonymous namespace)::f<B<int>>(...)",
		"(anonymous namespace)::f<B<...>>(...)", "(anonymous namespace)::f<...>(...)"},
	{"f(int)::{lambda(int)#1}::operator()(int) const",
		"f(int)::{lambda(int)#1}::operator()(...) const",
		"f(int)::{lambda(int)#1}::operator()(...) const",
		"f(int)::{lambda(int)#1}::operator()(...) const"},
	{"f(int) [clone .isra.0]", "f(...) [clone .isra.0]", "f(...) [clone .isra.0]",
		"f(...) [clone .isra.0]"},
	{"main.(*Tree).insert", "main.(*Tree).insert", "main.(*Tree).insert",
		"main.(*Tree).insert"},
	{"<alloc::vec::Vec<T> as Drop>::drop", "<alloc::vec::Vec<T> as Drop>::drop",
		"<alloc::vec::Vec<T> as Drop>::drop", "<alloc::vec::Vec<...> as Drop>::drop"},
	{"f<a", "f<a", "f<a", "f<a"},
	{"f(a", "f(a", "f(a", "f(a"},
	{")>]", ")>]", ")>]", ")>]"},
	{"", "", "", ""},
};

static const struct {
	const char *full, *bare;
} bares[] = {
	{"main", "main"},
	{"f(int, char const*)", "f"},
	{"f(int) [clone .isra.0]", "f"},
	{"a<int>::each<b>(int, b) const [clone .constprop.0]", "a<...>::each<...>"},
	{"A<int>::operator()(int) const", "A<...>::operator()"},
	{"core::slice::cmp::<impl core::cmp::PartialEq<[U]> for [T]>::eq",
		"core::slice::cmp::<...>::eq"},
	{"<alloc::vec::Vec<T> as Drop>::drop", "<alloc::vec::Vec<...> as Drop>::drop"},
};

static void is_form(const char *name, enum names_level level, const char *want)
{
	struct strbuf text = {0};

	report_name_put(&text, name, level, 60);
	is_str(strbuf_text(&text), want, "'%s' at level %d", name, (int)level);
	strbuf_fini(&text);
}

static void add_row(struct report_table *t, const char *name)
{
	const struct report_row row = {.role = REPORT_ROW, .parent = -1, .procedure = name};

	report_row_add(t, &row);
}

static const char *shown(const struct report_table *t, size_t i)
{
	const struct report_row *r = &t->rows.data[i];

	return r->shown ? r->shown : r->procedure;
}

static void test_report(void)
{
	struct report_table t = {.report = "procedures"};

	add_row(&t, "f(std::vector<int>, std::vector<int>)");
	add_row(&t, "f(std::vector<int>, std::vector<long>)");
	add_row(&t, "g<std::vector<int>>(std::vector<int>, std::vector<long>)");
	add_row(&t, "f(std::vector<int>, std::vector<int>)");
	add_row(&t, "short(int)");
	report_names_shorten(&t, 30, NULL);
	ok(strcmp(shown(&t, 0), shown(&t, 1)) != 0, "different names stay different");
	is_str(shown(&t, 0), shown(&t, 3), "equal ones equal");
	is_str(shown(&t, 2), "g<std::vector<int>>(...)", "the least shortened form that fits");
	is_str(shown(&t, 4), "short(int)", "short names are whole");
	is_str(t.rows.data[0].procedure, "f(std::vector<int>, std::vector<int>)",
		"scripts get whole names");
	report_table_fini(&t);
}

static const struct {
	const char *note, *shown, *what;
} notes[] = {
	{"inlined f(std::vector<int>, std::vector<int>)",
		"inlined f(std::vector<int>, std::vector<int>)",
		"a note that would be another's is whole"},
	{"inlined f(std::vector<int>, std::vector<long>)",
		"inlined f(std::vector<int>, std::vector<long>)", "and the other"},
	{"inlined f2(std::vector<int>, std::vector<long>)", "inlined f2(...)",
		"a function that was inlined"},
	{"in read, called by g<std::vector<int>, 7>(std::vector<int>) < std::operator<(a, "
	 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbb) < main",
		"in read, called by g<std::vector<int>, 7>(...) < std::operator<(...) < main",
		"callers"},
	{"inlined std::pair<std::vector<int>, long>::pair(std::pair<std::vector<int>, long> &&)",
		"inlined std::pair<...>::pair(std::pair<...> &&)", "types tell two apart"},
	{"inlined std::pair<std::vector<int>, long>::pair(std::pair<std::vector<int>, long> "
	 "const&)",
		"inlined std::pair<...>::pair(std::pair<...> const&)", "of one name"},
	{"<h<std::vector<int>, std::vector<long>>(int)> does not return",
		"<h<...>(...)> does not return", "the target of a call"},
	{"goes where it was seen to go, or to an unknown target",
		"goes where it was seen to go, or to an unknown target", "other notes stay"},
};

/* Notes have names, too. */
static void test_notes(void)
{
	size_t count = sizeof(notes) / sizeof(notes[0]);
	struct report_table t = {.report = "lines"};
	struct report_row row = {.role = REPORT_ROW, .parent = -1, .procedure = "main"};

	for (size_t i = 0; i < count; i++) {
		row.note = notes[i].note;
		report_row_add(&t, &row);
	}
	row.role = REPORT_HEAD;
	row.note = "in a library of a very long name, 3 instructions";
	report_row_add(&t, &row);
	report_names_shorten(&t, 30, NULL);
	for (size_t i = 0; i < count; i++)
		is_str(t.rows.data[i].note, notes[i].shown, "notes: %s", notes[i].what);
	is_str(t.rows.data[count].note, row.note, "and those of heads");
	report_table_fini(&t);
}

static void test_ends(void)
{
	struct strbuf text = {0};

	report_name_put(&text, "abcdefghijklmnopqrstuvwxyz", NAMES_ENDS, 13);
	is_str(strbuf_text(&text), "abcde...vwxyz", "beginning and end");
	text.length = 0;
	report_name_put(&text,
		"<core::iter::adapters::map::Map<B, I, F> as "
		"core::iter::traits::iterator::Iterator>::fold",
		NAMES_ENDS, 60);
	is_str(strbuf_text(&text), "<core::iter::adapters::map::...::iterator::Iterator>::fold",
		"whole words of a path");
	text.length = 0;
	report_name_put(&text, "a::abcdefghijklmnopqrstuvwxyz::z", NAMES_ENDS, 23);
	is_str(strbuf_text(&text), "a::abcdefg...tuvwxyz::z", "unless little would be left");
	text.length = 0;
	report_name_put(&text,
		"std::uniform_int_distribution<...>::operator()<...>(...)::{lambda#1}::a_function",
		NAMES_ENDS, 50);
	is_str(strbuf_text(&text), "std::uniform_int_distribution...::a_function",
		"whole words, where parts of the path are long");
	text.length = 0;
	report_name_put(&text, "abcdefgh<...>::ijklmnopqrstuvw<...>", NAMES_ENDS, 14);
	is_str(strbuf_text(&text), "abcdefgh...>", "dots once");
	text.length = 0;
	report_name_put(
		&text, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4", NAMES_ENDS, 12);
	ok(text.length <= 12 && (strbuf_text(&text)[4] & 0xc0) != 0x80, "of whole characters");
	strbuf_fini(&text);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		is_form(forms[i].full, NAMES_FULL, forms[i].full);
		is_form(forms[i].full, NAMES_PARAMETERS, forms[i].parameters);
		is_form(forms[i].full, NAMES_INNER, forms[i].inner);
		is_form(forms[i].full, NAMES_ARGUMENTS, forms[i].arguments);
	}
	for (size_t i = 0; i < sizeof(bares) / sizeof(bares[0]); i++)
		is_form(bares[i].full, NAMES_BARE, bares[i].bare);
	test_ends();
	test_notes();
	test_report();
	return done();
}
