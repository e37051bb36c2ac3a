/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that a stranger may choose: all have one hash of FNV-1a (table_hash_fixed). Each word leads
 * from the hash's begin to its begin, so whatever is put together of them does, and a word before
 * any text leaves the text's hash as it is.
 */
#ifndef TESTS_COLLIDING_H
#define TESTS_COLLIDING_H

#include <stddef.h>
#include <string.h>

enum {
	COLLIDING_WORDS = 28,
	COLLIDING_LETTERS = 20, /* of a word */
	COLLIDING_TEXTS = COLLIDING_WORDS * COLLIDING_WORDS * COLLIDING_WORDS
};

static const char *const colliding_words[COLLIDING_WORDS] = {
	"TpUyPQqKu4JRuBi7FBA2",
	"OZj2gEIMWxsaH37ZmDAp",
	"jLdsEDxWz_7BtR9uNEAC",
	"WFhi4w1fsyhoNmJyEGAp",
	"2HcYHQLak_DiH96fDIAv",
	"MZrZ5B_mbFNePsRxGNAv",
	"h.3VmGDKPBrnsdQqoOAn",
	"tk1EmheNbyp8XRxJ9TAl",
	"wQ4OCXELNWUkb3y01VA8",
	"d0O4eBwm3QudkDd2VbAG",
	".tPWy6Cqx86jdFtJEfAV",
	"DzxGMy_rESQs1x3GpfA0",
	"U6571YaTjV38FHWlngAl",
	"YkEJ1OU47_XD1hWWUlAm",
	"lqDxupoOsM94Lv18mlA2",
	"zAX.IyExHlFC8NcnToAd",
	"XD3qzPMf8oKSXuCm9pAo",
	"cWHE7JnbjfwuWnKr3rAT",
	"xqmWysTwSSdrkX7y2yA7",
	"ui9jc2fBW5g6fMZZgzAp",
	"6b8LBOBQ8bzNUSRo83Aq",
	"PnOkJ4K5ymzGpmbJr6A7",
	"O_hEkJtyyZC3yNw2e_A3",
	"q.pZ_fbcolKEpkSXS.Ar",
	"kVWygijhHM.hVaejBBBJ",
	"EoeoB_D2Sr16WY1JVFB2",
	"FYtVYP8YxsMUkkJAqGBa",
	"FqY68YZCbLxnvO_HTLBP",
};

struct colliding_text {
	char text[3 * COLLIDING_LETTERS + 1];
};

static inline struct colliding_text colliding_text(size_t i)
{
	struct colliding_text t = {""};

	for (int k = 0; k < 3; k++, i /= COLLIDING_WORDS)
		strcat(t.text, colliding_words[i % COLLIDING_WORDS]);
	return t;
}

#endif
