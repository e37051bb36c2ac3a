/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json_read.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

enum { DEEPEST = 64 };

struct parser {
	const char *text, *name;
	size_t length, at;
	int depth;
	struct error *e;
};

static int fail(const struct parser *p, const char *what)
{
	size_t line = 1;

	for (size_t i = 0; i < p->at && i < p->length; i++)
		line += p->text[i] == '\n';
	return error_set(p->e, ERR_PARSE, "%s:%zu: %s", p->name, line, what);
}

static void skip_space(struct parser *p)
{
	while (p->at < p->length && strchr(" \t\r\n", p->text[p->at]) && p->text[p->at])
		p->at++;
}

/* The next character that is no space; 0 at the end. */
static char peek(struct parser *p)
{
	skip_space(p);
	return p->at < p->length ? p->text[p->at] : 0;
}

static bool accept(struct parser *p, const char *word)
{
	size_t n = strlen(word);

	if (p->length - p->at < n || memcmp(p->text + p->at, word, n) != 0)
		return false;
	p->at += n;
	return true;
}

static long hex4(struct parser *p)
{
	long value = 0;

	for (int i = 0; i < 4; i++, p->at++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		char c = p->at < p->length ? p->text[p->at] : 0;
		const char *found = c ? strchr(digits, c) : NULL;

		if (!found)
			return -1;
		value = value * 16 + (found - digits) % 16;
	}
	return value;
}

static void put_utf8(struct strbuf *out, unsigned long c)
{
	if (c < 0x80) {
		strbuf_putc(out, c ? (char)c : '?');
	} else if (c < 0x800) {
		strbuf_putc(out, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		strbuf_putc(out, (char)(0xe0 | c >> 12));
		strbuf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		strbuf_putc(out, (char)(0xf0 | c >> 18));
		strbuf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	if (c >= 0x80)
		strbuf_putc(out, (char)(0x80 | (c & 0x3f)));
}

/* Behind \u; halves of a pair that stand alone become U+FFFD. */
static int escaped_unicode(struct parser *p, struct strbuf *out)
{
	long high = hex4(p), low;
	size_t at = p->at;

	if (high < 0)
		return fail(p, "\\u wants four hexadecimal digits");
	if (high >= 0xd800 && high < 0xdc00 && accept(p, "\\u")) {
		low = hex4(p);
		if (low >= 0xdc00 && low < 0xe000)
			high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
		else
			p->at = at;
	}
	put_utf8(out, high >= 0xd800 && high < 0xe000 ? 0xfffd : (unsigned long)high);
	return 0;
}

static int escaped(struct parser *p, struct strbuf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = p->at < p->length ? p->text[p->at++] : 0;
	const char *found = c ? strchr(from, c) : NULL;

	if (c == 'u')
		return escaped_unicode(p, out);
	if (!found)
		return fail(p, "there is no such escape");
	strbuf_putc(out, to[found - from]);
	return 0;
}

/* The text between quotes, of which the first is the next character; NULL with *e set. */
static char *parse_string(struct parser *p)
{
	struct strbuf out = {0};
	char *text;

	for (p->at++; p->at < p->length && p->text[p->at] != '"';) {
		char c = p->text[p->at++];

		if ((unsigned char)c < ' ') {
			fail(p, "a control character in a string");
			goto bad;
		}
		if (c != '\\')
			strbuf_putc(&out, c);
		else if (escaped(p, &out))
			goto bad;
	}
	if (p->at >= p->length) {
		fail(p, "a string does not end");
		goto bad;
	}
	p->at++;
	text = strbuf_take(&out);
	if (!text)
		error_nomem(p->e);
	return text;
bad:
	strbuf_fini(&out);
	return NULL;
}

static size_t digits(const struct parser *p, size_t at)
{
	size_t n = 0;

	while (at + n < p->length && p->text[at + n] >= '0' && p->text[at + n] <= '9')
		n++;
	return n;
}

/* Bytes of the number that begins here, as the grammar has it; 0: none does. */
static size_t number_length(const struct parser *p)
{
	size_t at = p->at, n;

	at += at < p->length && p->text[at] == '-';
	n = digits(p, at);
	if (!n || (n > 1 && p->text[at] == '0'))
		return 0;
	at += n;
	if (at < p->length && p->text[at] == '.') {
		n = digits(p, at + 1);
		if (!n)
			return 0;
		at += n + 1;
	}
	if (at < p->length && (p->text[at] == 'e' || p->text[at] == 'E')) {
		at++;
		at += at < p->length && (p->text[at] == '-' || p->text[at] == '+');
		n = digits(p, at);
		if (!n)
			return 0;
		at += n;
	}
	return at - p->at;
}

static int parse_number(struct parser *p, double *value)
{
	locale_t plain, before;
	char text[64];
	size_t n = number_length(p);

	if (!n || n >= sizeof(text))
		return fail(p, n ? "a number of too many digits" : "a value is expected");
	memcpy(text, p->text + p->at, n);
	text[n] = '\0';
	p->at += n;
	/* '.' whatever the locale */
	plain = newlocale(LC_NUMERIC_MASK, "C", NULL);
	before = plain ? uselocale(plain) : NULL;
	*value = strtod(text, NULL);
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	return 0;
}

static int parse_value(struct parser *p, struct json_value *v);

/* Members up to the closing bracket; those of objects have names. */
static int parse_members(struct parser *p, struct json_value *v, bool named)
{
	const char close = named ? '}' : ']';
	struct json_value **end = &v->first;

	p->at++;
	if (peek(p) == close) {
		p->at++;
		return 0;
	}
	for (;;) {
		*end = calloc(1, sizeof(**end));
		if (!*end)
			return error_nomem(p->e);
		if (named) {
			if (peek(p) != '"')
				return fail(p, "a name in quotes is expected");
			(*end)->name = parse_string(p);
			if (!(*end)->name)
				return -1;
			if (peek(p) != ':')
				return fail(p, "':' is expected");
			p->at++;
		}
		if (parse_value(p, *end))
			return -1;
		end = &(*end)->next;
		if (peek(p) == close)
			break;
		if (peek(p) != ',')
			return fail(p, named ? "',' or '}' is expected" : "',' or ']' is expected");
		p->at++;
	}
	p->at++;
	return 0;
}

static int parse_value(struct parser *p, struct json_value *v)
{
	char c = peek(p);
	int rc;

	if (c == '{' || c == '[') {
		if (p->depth == DEEPEST)
			return fail(p, "it is nested too deeply");
		p->depth++;
		v->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
		rc = parse_members(p, v, c == '{');
		p->depth--;
		return rc;
	}
	if (c == '"') {
		v->kind = JSON_STRING;
		v->string = parse_string(p);
		return v->string ? 0 : -1;
	}
	if (accept(p, "null"))
		return 0;
	v->kind = JSON_BOOL;
	if (accept(p, "true")) {
		v->number = 1;
		return 0;
	}
	if (accept(p, "false"))
		return 0;
	v->kind = JSON_NUMBER;
	return parse_number(p, &v->number);
}

struct json_value *json_parse(const char *text, size_t length, const char *name, struct error *e)
{
	struct parser p = {.text = text, .name = name, .length = length, .e = e};
	struct json_value *v = calloc(1, sizeof(*v));

	if (!v) {
		error_nomem(e);
		return NULL;
	}
	if (parse_value(&p, v) == 0) {
		skip_space(&p);
		if (p.at == length)
			return v;
		fail(&p, "there is more behind the value");
	}
	json_free(v);
	return NULL;
}

void json_free(struct json_value *v)
{
	while (v) {
		struct json_value *next = v->next;

		json_free(v->first);
		free(v->string);
		free(v->name);
		free(v);
		v = next;
	}
}

const struct json_value *json_member(const struct json_value *v, const char *name)
{
	if (!v || v->kind != JSON_OBJECT)
		return NULL;
	for (v = v->first; v; v = v->next)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

double json_to_number(const struct json_value *v, double other)
{
	return v && v->kind == JSON_NUMBER ? v->number : other;
}

const char *json_to_string(const struct json_value *v, const char *other)
{
	return v && v->kind == JSON_STRING ? v->string : other;
}
