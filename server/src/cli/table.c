/* table.c - columns of a terminal. Widths are those of LC_CTYPE, which main sets to UTF-8. */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

struct glyph {
    size_t bytes;
    int columns;
    bool shown; /* unchanged; otherwise '?' */
};

static bool changes_direction(wchar_t c)
{
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
           c == 0xfeff || c == 0x2028 || c == 0x2029;
}

static struct glyph next_glyph(const char *text)
{
    mbstate_t state = {0};
    wchar_t c;
    size_t bytes = mbrtowc(&c, text, strlen(text), &state);

    if (bytes == 0 || bytes > 8)
        return (struct glyph){1, 1, false};
    int columns = wcwidth(c);
    if (columns < 0 || changes_direction(c))
        return (struct glyph){bytes, 1, false};
    return (struct glyph){bytes, columns, true};
}

size_t table_width(const char *text)
{
    size_t width = 0;

    while (*text) {
        struct glyph g = next_glyph(text);
        width += (size_t)g.columns;
        text += g.bytes;
    }
    return width;
}

void table_cell(struct text *out, const char *text, int width)
{
    size_t room = (size_t)abs(width), wide = table_width(text);
    bool cut = wide > room;

    while (cut && wide > room - 1) {
        struct glyph g = next_glyph(text);
        wide -= (size_t)g.columns;
        text += g.bytes;
    }

    size_t pad = room - wide - cut;
    if (width < 0)
        text_printf(out, "%*s", (int)pad, "");
    if (cut)
        text_add(out, "\u2026");
    while (*text) {
        struct glyph g = next_glyph(text);
        text_append(out, g.shown ? text : "?", g.shown ? g.bytes : 1);
        text += g.bytes;
    }

    if (width > 0)
        text_printf(out, "%*s", (int)pad, "");
}

int table_terminal(void)
{
    const char *given = getenv("COLUMNS");
    struct winsize size;
    long columns = given ? strtol(given, NULL, 10) : 0;

    if (columns <= 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    return columns > 0 && columns < 10000 ? (int)columns : 0;
}

void table_fit(int *const *widths, size_t count, int least, int room)
{
    int sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += *widths[i];
    for (; sum > room; sum--) {
        size_t widest = 0;
        for (size_t i = 1; i < count; i++)
            widest = *widths[i] > *widths[widest] ? i : widest;
        if (*widths[widest] <= least)
            return;
        --*widths[widest];
    }
}
