/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between machine_parse.c, which reads the lines of a machine description, and values.c, which
 * reads what a line says after its keyword. */
#ifndef MACHINE_VALUES_H
#define MACHINE_VALUES_H

#include "machine/private.h"

enum { FIELDS_MAX = 160, WORD_MAX_LENGTH = 127 };

struct parser {
	const char *name;
	unsigned line;                  /* 0: none; an error is then of the machine as a whole */
	bool changing;                  /* parts that a value leaves out stay as they are in m */
	const char *at, *end;           /* of the current line, without comment and blanks */
	char word[WORD_MAX_LENGTH + 1]; /* the last one taken */
	char section[32];
	unsigned seen[FIELDS_MAX]; /* line of each field, 0: not given */
	struct machine *m;
	struct error *e;
};

/* -1, with the error set to FILE:LINE and this text; without a line, FILE and the text. */
__attribute__((format(printf, 2, 3))) int machine_parser_fail(
	struct parser *p, const char *format, ...);
/* 1: p->word is the next word; 0: the line is at its end; -1: error. */
int machine_parser_word(struct parser *p);

static inline bool parser_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Unknown keyword or section (what); with the nearest. */
int machine_parser_unknown(struct parser *p, const char *what, const char *word);
/* The checks that take the whole machine. */
int machine_parser_check(struct parser *p);

/* Reads the value of the field into p->m; there is at least one word. */
int value_read(struct parser *p, const struct field *f);

#endif
