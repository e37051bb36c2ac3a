/* SPDX-License-Identifier: GPL-2.0-or-later */
#define NCURSES_WIDECHAR 1
#include "tui/terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "tui/actions.h"

enum {
	SLICE_NS = 8000000, /* of work between two looks at the keys */
	TICK_MS = 150,      /* between two checks of the source's progress */
	KEYS_AT_ONCE = 64,  /* before the screen is drawn again */
	CLOSED = 8,         /* times that a readable terminal may have nothing to read */
	DOUBLE_CLICK_NS = 400000000,
};

static volatile sig_atomic_t ended, stopped, resized;

static void on_end(int number)
{
	ended = number;
}

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

static void on_resize(int number)
{
	(void)number;
	resized = 1;
}

static const struct {
	int number;
	void (*handler)(int number);
} signals[] = {
	{SIGHUP, on_end},
	{SIGINT, on_end},
	{SIGQUIT, on_end},
	{SIGTERM, on_end},
	{SIGTSTP, on_stop},
	{SIGWINCH, on_resize},
};

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

/* Signals arrive only while the process waits. */
struct handlers {
	struct sigaction before[SIGNALS];
	sigset_t mask, waiting;
};

static void catch_signals(struct handlers *h)
{
	sigset_t ours;

	ended = stopped = resized = 0;
	sigemptyset(&ours);
	for (int i = 0; i < SIGNALS; i++) {
		struct sigaction own = {.sa_handler = signals[i].handler};

		sigaddset(&ours, signals[i].number);
		sigaction(signals[i].number, NULL, &h->before[i]);
		if (h->before[i].sa_handler != SIG_IGN || signals[i].number == SIGWINCH)
			sigaction(signals[i].number, &own, NULL);
	}
	sigprocmask(SIG_BLOCK, &ours, &h->mask);
	h->waiting = h->mask;
	for (int i = 0; i < SIGNALS; i++)
		sigdelset(&h->waiting, signals[i].number);
}

static void release_signals(const struct handlers *h)
{
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i].number, &h->before[i], NULL);
	sigprocmask(SIG_SETMASK, &h->mask, NULL);
}

/* ---- how styles look ---- */

static const struct {
	attr_t plain; /* without colours */
	attr_t more;  /* with them, beside the colour */
	short color;  /* -1: none */
} looks[TUI_STYLES] = {
	[TUI_PLAIN] = {A_NORMAL, A_NORMAL, -1},
	[TUI_TITLE] = {A_REVERSE, A_REVERSE, -1},
	[TUI_HEADING] = {A_BOLD, A_BOLD, -1},
	[TUI_CURSOR] = {A_REVERSE, A_REVERSE, -1},
	[TUI_WEAK] = {A_DIM, A_DIM, -1},
	[TUI_HOT] = {A_BOLD, A_BOLD, COLOR_RED},
	[TUI_BAR] = {A_NORMAL, A_NORMAL, COLOR_YELLOW},
	[TUI_SOURCE] = {A_NORMAL, A_NORMAL, COLOR_CYAN},
	[TUI_MATCH] = {A_UNDERLINE | A_BOLD, A_UNDERLINE | A_BOLD, COLOR_GREEN},
	[TUI_STATUS] = {A_NORMAL, A_NORMAL, -1},
	[TUI_ERROR] = {A_BOLD, A_BOLD, COLOR_RED},
	[TUI_KEY] = {A_BOLD, A_BOLD, -1},
};

static bool colors_of(const struct tui_terminal_options *options)
{
	if (!options->color || !has_colors() || start_color() == ERR)
		return false;
	use_default_colors();
	for (int i = 0; i < TUI_STYLES; i++)
		if (looks[i].color >= 0)
			init_pair((short)(i + 1), looks[i].color, -1);
	return true;
}

static void terminal_show(const struct tui_screen *s, bool colors)
{
	for (int row = 0; row < s->rows; row++)
		for (int i = 0; i < s->columns; i++) {
			const struct tui_cell *cell =
				&s->cells[(size_t)row * (size_t)s->columns + (size_t)i];
			wchar_t text[2] = {(wchar_t)cell->character, 0};
			cchar_t out;

			if (!cell->character)
				continue;
			setcchar(&out, text,
				colors ? looks[cell->style].more : looks[cell->style].plain,
				(short)(colors && looks[cell->style].color >= 0 ? cell->style + 1
										: 0),
				NULL);
			mvadd_wch(row, i, &out);
		}
	curs_set(s->at_row >= 0);
	move(s->at_row >= 0 ? s->at_row : s->rows - 1, s->at_row >= 0 ? s->at_column : 0);
	refresh();
}

/* ---- keys ---- */

static const struct {
	int curses, key;
} codes[] = {
	{KEY_UP, TUI_KEY_UP},
	{KEY_DOWN, TUI_KEY_DOWN},
	{KEY_LEFT, TUI_KEY_LEFT},
	{KEY_RIGHT, TUI_KEY_RIGHT},
	{KEY_SLEFT, TUI_KEY_SHIFT_LEFT},
	{KEY_SRIGHT, TUI_KEY_SHIFT_RIGHT},
	{KEY_PPAGE, TUI_KEY_PAGE_UP},
	{KEY_NPAGE, TUI_KEY_PAGE_DOWN},
	{KEY_HOME, TUI_KEY_HOME},
	{KEY_FIND, TUI_KEY_HOME},
	{KEY_END, TUI_KEY_END},
	{KEY_SELECT, TUI_KEY_END},
	{KEY_LL, TUI_KEY_END},
	{KEY_ENTER, TUI_KEY_ENTER},
	{KEY_BACKSPACE, TUI_KEY_BACKSPACE},
	{KEY_DC, TUI_KEY_DELETE},
	{KEY_BTAB, TUI_KEY_BACKTAB},
	{KEY_F(1), TUI_KEY_F1},
	{KEY_F(10), TUI_KEY_F10},
};

static int key_of_character(wint_t c)
{
	switch (c) {
	case '\r':
	case '\n':
		return TUI_KEY_ENTER;
	case '\b':
	case 0x7f:
		return TUI_KEY_BACKSPACE;
	case '\t':
		return TUI_KEY_TAB;
	case 27:
		return TUI_KEY_ESCAPE;
	default:
		return c < TUI_KEY_FIRST ? (int)c : TUI_KEY_NONE;
	}
}

static void mouse_event(struct tui *t)
{
	static uint64_t last;
	static int last_row = -1;
	uint64_t now = clock_ns();
	MEVENT m;

	if (getmouse(&m) != OK)
		return;
	if (m.bstate & BUTTON4_PRESSED) {
		tui_wheel(t, -3);
	} else if (m.bstate & BUTTON5_PRESSED) {
		tui_wheel(t, 3);
	} else if (m.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED)) {
		bool twice = m.bstate & BUTTON1_DOUBLE_CLICKED ||
			     (m.y == last_row && now - last < DOUBLE_CLICK_NS);

		tui_click(t, m.y, m.x, twice);
		last = twice ? 0 : now;
		last_row = m.y;
	}
}

/* All keys that are there; false: there was none. */
static bool read_keys(struct tui *t)
{
	int count = 0;
	wint_t c;

	for (; count < KEYS_AT_ONCE && !t->quit; count++) {
		int kind = get_wch(&c);

		if (kind == ERR)
			break;
		if (kind == KEY_CODE_YES && c == KEY_MOUSE) {
			mouse_event(t);
			continue;
		}
		if (kind == KEY_CODE_YES && c == KEY_RESIZE)
			continue;
		if (kind != KEY_CODE_YES) {
			tui_key(t, key_of_character(c));
			continue;
		}
		for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
			if (codes[i].curses == (int)c)
				tui_key(t, codes[i].key);
	}
	return count > 0;
}

/* ---- the loop ---- */

static void set_mouse(bool on)
{
	mousemask(on ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED |
				  BUTTON4_PRESSED | BUTTON5_PRESSED
		     : 0,
		NULL);
	mouseinterval(0);
}

static int take_size(struct tui *t)
{
	struct winsize w;
	int rows = LINES, columns = COLS;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col) {
		rows = w.ws_row;
		columns = w.ws_col;
	}
	if (rows != LINES || columns != COLS)
		resizeterm(rows, columns);
	return tui_resize(t, rows, columns);
}

/* Stops the process on the terminal user's request, until it is continued. */
static void stop(struct tui *t, const struct handlers *h)
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, own;
	sigset_t now;

	endwin();
	sigaction(SIGTSTP, &usual, &own);
	sigprocmask(SIG_SETMASK, &h->waiting, &now);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &now, NULL);
	sigaction(SIGTSTP, &own, NULL);
	stopped = 0;
	reset_prog_mode();
	t->redraw = true;
	take_size(t);
}

static int loop(struct tui *t, const struct handlers *h, bool colors)
{
	struct pollfd fds[2] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = t->source.wake, .events = POLLIN}};
	bool more = tui_work(t, SLICE_NS), mouse = t->mouse;
	int nothing = 0;

	while (!t->quit && !ended) {
		struct timespec wait = {0, more ? 0 : TICK_MS * 1000000l};

		tui_draw(t);
		if (t->redraw)
			clearok(stdscr, TRUE);
		t->redraw = false;
		terminal_show(&t->screen, colors);
		ppoll(fds, t->source.wake >= 0 ? 2 : 1, more || tui_busy(t) ? &wait : NULL,
			&h->waiting);
		if (stopped)
			stop(t, h);
		if (resized) {
			resized = 0;
			take_size(t);
		}
		if (fds[0].revents & (POLLERR | POLLNVAL | POLLHUP))
			return SIGHUP;
		if (fds[0].revents & POLLIN)
			nothing = read_keys(t) ? 0 : nothing + 1;
		if (nothing > CLOSED)
			return SIGHUP;
		if (mouse != t->mouse)
			set_mouse(mouse = t->mouse);
		if (!t->quit)
			more = tui_work(t, SLICE_NS);
		fds[0].revents = fds[1].revents = 0;
	}
	return ended;
}

static bool speaks_unicode(const struct tui_terminal_options *options)
{
	const char *codeset;

	setlocale(LC_CTYPE, "");
	codeset = nl_langinfo(CODESET);
	return !options->ascii && codeset && strcasecmp(codeset, "UTF-8") == 0;
}

int tui_terminal_run(const struct tui_source *source, size_t report, uint32_t switches,
	const struct tui_terminal_options *options, int *signal_number, struct error *e)
{
	bool unicode = speaks_unicode(options), colors;
	struct handlers handlers;
	struct tui t;
	SCREEN *screen;
	int rc = 0;

	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		error_set(e, ERR_UNSUPPORTED, "this terminal cannot be set up");
		return error_hint(e, "without -tui, prof prints the same reports");
	}
	catch_signals(&handlers);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (!getenv("ESCDELAY"))
		set_escdelay(25); /* ms, after which an Escape is a key by itself */
	colors = colors_of(options);
	if (tui_init(&t, source, report, switches, LINES, COLS, unicode)) {
		rc = error_nomem(e);
	} else {
		t.mouse = options->mouse;
		t.intervals = options->intervals;
		set_mouse(t.mouse);
		take_size(&t);
		*signal_number = loop(&t, &handlers, colors);
	}
	set_mouse(false);
	endwin();
	release_signals(&handlers);
	if (rc == 0)
		tui_fini(&t);
	delscreen(screen);
	return rc;
}
