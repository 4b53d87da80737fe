/* page.c - the help of a command, from its table of verbs and options. */
#include "cli/arguments.h"

#include "base/scope.h"

#include <string.h>

#define WIDTH    100 /* columns */
#define LEFT_MAX 34

/* Append `text`, broken between words, each line but the first behind `indent` columns. `at`: columns taken on this line. */
static void add_wrapped(struct text *out, const char *text, size_t indent, size_t at)
{
    while (*text) {
        size_t len = strcspn(text, " ");
        if (at > indent && at + len > WIDTH) {
            text_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        text_append(out, text, len);
        at += len;
        text += len;
        if (*text) {
            text++;
            if (at + 1 + strcspn(text, " ") <= WIDTH) {
                text_add(out, " ");
                at++;
            } else {
                at = WIDTH;
            }
        }
    }
    text_add(out, "\n");
}

/* A row of two columns: the second begins at `width`. */
static void add_row(struct text *out, const char *left, const char *help, size_t width)
{
    size_t len = strlen(left);

    if (!help || !*help) {
        text_printf(out, "%s\n", left);
        return;
    }
    if (len + 2 > width)
        text_printf(out, "%s\n%*s", left, (int)width, "");
    else
        text_printf(out, "%-*s", (int)width, left);
    add_wrapped(out, help, width, width);
}

static void put_left(struct text *out, const struct cli_option *option)
{
    out->len = 0;
    text_printf(out, "  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
}

static void put_usage(struct text *out, const char *command, const struct cli_page *page)
{
    const char *before = "Usage: ";
    size_t width = 0;

    for (size_t i = 0; i < page->verb_count; i++) {
        const struct cli_verb *verb = cli_verb_at(page, i);
        size_t len = 7 + strlen(command) + 1 + strlen(verb->name) + 1 + strlen(verb->words) + 3;
        width = len > width && len <= LEFT_MAX + 22 ? len : width;
    }
    for (size_t i = 0; i < page->verb_count; i++, before = "       ") {
        const struct cli_verb *verb = cli_verb_at(page, i);
        MIRE_SCOPED(text_fini) struct text left = {0};
        text_printf(&left, "%s%s %s%s%s", before, command, verb->name, *verb->words ? " " : "", verb->words);
        add_row(out, left.bytes ? left.bytes : "", verb->help, width);
    }
    for (const char *line = page->synopsis; line; before = "       ") {
        size_t len = strcspn(line, "\n");
        text_printf(out, "%s%s %.*s\n", before, command, (int)len, line);
        line = line[len] ? line + len + 1 : NULL;
    }
}

static void put_about(struct text *out, const char *about)
{
    while (about && *about) {
        MIRE_SCOPED(text_fini) struct text paragraph = {0};
        const char *end = strstr(about, "\n\n");
        size_t len = end ? (size_t)(end - about) : strlen(about);
        text_append(&paragraph, about, len);
        text_add(out, "\n");
        add_wrapped(out, paragraph.bytes ? paragraph.bytes : "", 0, 0);
        about += len + (end ? 2 : 0);
    }
}

void cli_page_put(struct text *out, const char *command, const struct cli_option *options, size_t count,
                  const struct cli_page *page)
{
    MIRE_SCOPED(text_fini) struct text left = {0};
    size_t width = 0;

    if (page->usage) {
        text_add(out, page->usage);
        return;
    }
    put_usage(out, command, page);
    put_about(out, page->about);
    for (size_t i = 0; i < count; i++) {
        put_left(&left, &options[i]);
        width = left.len + 2 > width && left.len <= LEFT_MAX ? left.len + 2 : width;
    }
    text_add(out, count ? "\n" : "");
    for (size_t i = 0; i < count; i++) {
        put_left(&left, &options[i]);
        add_row(out, left.bytes ? left.bytes : "", options[i].help, width);
    }
}
