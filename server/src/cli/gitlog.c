/* gitlog.c - see gitlog.h. */
#include "cli/gitlog.h"

#include "base/scope.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FILES_MAX  1000 /* of a commit */
#define TEXT_MAX   200  /* bytes of a name or a subject */
#define PATH_LIMIT 1000

struct reader {
    struct text *out;
    struct gitlog_counts *counts;
    size_t most;
    bool open;    /* a commit is being read */
    size_t files; /* of it */
    char *id, *author, *subject;
    char when[32];
    struct text paths; /* of it, as JSON */
};

static void forget(struct reader *r)
{
    free(r->id);
    free(r->author);
    free(r->subject);
    text_fini(&r->paths);
    r->id = r->author = r->subject = NULL;
    *r->when = '\0';
    r->files = 0;
    r->open = false;
}

/* At most TEXT_MAX bytes, whole characters. */
static void add_cut(struct text *out, const char *text)
{
    const char *whole = text ? text : "";

    text_add_json(out, whole, text_cut(whole, strlen(whole), TEXT_MAX));
}

static const char *end_commit(struct reader *r)
{
    const char *wrong =
        r->open && !*r->when ? "a commit has no date that is known: try git log --date=iso-strict" : NULL;

    if (r->open && !wrong && r->counts->commits == r->most)
        r->counts->more++;
    else if (r->open && !wrong) {
        text_printf(r->out, "%s{\"commit\":\"%s\",\"author\":", r->counts->commits ? "," : "", r->id);
        add_cut(r->out, r->author);
        text_add(r->out, ",\"subject\":");
        add_cut(r->out, r->subject);
        text_printf(r->out, ",\"committed_at\":\"%s\",\"files\":[%s]}", r->when, r->paths.bytes ? r->paths.bytes : "");
        r->counts->commits++;
        r->counts->files += r->files;
    }
    forget(r);
    return wrong;
}

static void take_date(struct reader *r, const char *text)
{
    static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S%z", "%a %b %d %H:%M:%S %Y %z", "%Y-%m-%d %H:%M:%S %z"};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct tm tm = {0}, utc;
        const char *end = strptime(text, formats[i], &tm);
        long offset = tm.tm_gmtoff;
        time_t at = end && !*end ? timegm(&tm) - offset : -1;
        if (at >= 0 && gmtime_r(&at, &utc)) {
            strftime(r->when, sizeof r->when, "%Y-%m-%dT%H:%M:%SZ", &utc);
            return;
        }
    }
}

/* Undo git's quotes: "a\303\244\tb". In place. */
static char *unquote(char *path)
{
    static const char letters[] = "abtnvfr\"\\", values[] = "\a\b\t\n\v\f\r\"\\";
    char *in = path, *out = path;

    if (*in != '"')
        return path;
    for (in++; *in && *in != '"'; in++) {
        const char *letter = *in == '\\' && in[1] ? strchr(letters, in[1]) : NULL;
        if (letter) {
            *out++ = values[letter - letters];
            in++;
        } else if (*in == '\\' && strspn(in + 1, "01234567") >= 3) {
            *out++ = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
            in += 3;
        } else
            *out++ = *in;
    }
    *out = '\0';
    return path;
}

static void take_path(struct reader *r, char *path)
{
    size_t len = strlen(unquote(path));

    if (!len || len > PATH_LIMIT || strchr(path, '\n') || r->files == FILES_MAX)
        return;
    if (r->files++)
        text_add(&r->paths, ",");
    text_add_json(&r->paths, path, len);
}

/* "src/cart.c"; or "M<TAB>src/cart.c", "R100<TAB>old.c<TAB>new.c". */
static void take_paths(struct reader *r, char *line)
{
    char *tab = *line == '"' ? NULL : strchr(line, '\t');

    if (!tab) {
        take_path(r, line);
        return;
    }
    while (tab) {
        char *path = tab + 1;
        tab = strchr(path, '\t');
        if (tab)
            *tab = '\0';
        take_path(r, path);
    }
}

/* "commit 1a2b3c4 (HEAD)": the length of the hexadecimal digits, 0 if it is no such line. */
static size_t commit_of(const char *line)
{
    size_t len = strncmp(line, "commit ", 7) ? 0 : strspn(line + 7, "0123456789abcdef");
    return len >= 7 && len <= 64 && (!line[7 + len] || line[7 + len] == ' ') ? len : 0;
}

/* The value behind "Author:"; NULL: the line begins otherwise. */
static const char *after(const char *line, const char *name)
{
    size_t len = strlen(name);
    return strncmp(line, name, len) ? NULL : line + len + strspn(line + len, " ");
}

/* "Kim <kim@shop.example>": the name. */
static char *name_of(const char *author)
{
    size_t len = strcspn(author, "<");

    while (len && author[len - 1] == ' ')
        len--;
    return strndup(author, len);
}

static const char *take_line(struct reader *r, char *line)
{
    size_t id = commit_of(line);
    const char *value;

    if (id) {
        const char *wrong = end_commit(r);
        r->open = true;
        r->id = strndup(line + 7, id);
        return wrong;
    }
    if (!r->open)
        return *line ? "it does not begin with a commit: give it the output of git log --name-only" : NULL;
    if ((value = after(line, "Author:")))
        r->author = r->author ? r->author : name_of(value);
    else if ((value = after(line, "Date:")) || (value = after(line, "AuthorDate:")))
        take_date(r, value);
    else if (!strncmp(line, "    ", 4))
        r->subject = r->subject || !line[4 + strspn(line + 4, " ")] ? r->subject : strdup(line + 4);
    else if (*line && *line != ' ' && !after(line, "Merge:") && !after(line, "Commit:") && !after(line, "CommitDate:"))
        take_paths(r, line);
    return NULL;
}

const char *gitlog_read(struct text *out, struct gitlog_counts *counts, FILE *log, size_t most)
{
    struct reader reader = {.out = out, .counts = counts, .most = most};
    MIRE_SCOPED(free_memory) char *line = NULL;
    size_t room = 0;
    const char *wrong = NULL;

    *counts = (struct gitlog_counts){0};
    text_add(out, "[");
    for (ssize_t len; !wrong && (len = getline(&line, &room, log)) >= 0;) {
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            line[--len] = '\0';
        wrong = take_line(&reader, line);
    }
    if (!wrong)
        wrong = end_commit(&reader);
    forget(&reader);
    text_add(out, "]");
    return wrong;
}
