/*
 * import.c - `mire import FILE|DIR|ARCHIVE...`: converts reports of other formats to Mire's own and sends them like a
 * device. An id is a hash of the content and, in the server, of the app: a second or resumed import doubles nothing.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/fetch.h"
#include "cli/hprof_file.h"
#include "cli/say.h"

#include "archive/archive.h"
#include "base/scope.h"
#include "decode/decode.h"
#include "decode/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX       32         /* folders within each other */
#define MEMBERS_MAX     100000     /* of an archive */
#define ARCHIVE_MAX     (1u << 30) /* bytes of all members of one archive */
#define REPORT_MAX_SENT (4u << 20) /* bytes the server takes */

struct import {
    const char *format, *server, *key;
    bool dry_run, terminal, broken; /* broken: the server did not accept a report */
    const char *path;               /* of the present file, and its member */
    size_t files, reports, refused;
    size_t in_file; /* reports of the file */
    bool in_archive;
};

/* ---- one report ---- */

static void show(const struct import *import, const char *format, const char *text, size_t len)
{
    struct cli_document shown;
    char what[64] = "";
    if (!cli_document_make(&shown, "mire import", import->path, text, len, NULL)) {
        cli_document_fini(&shown);
        return;
    }
    const struct report *report = &shown.report;
    if (report->kind == MIRE_REPORT_SESSION) {
        say(stdout, "%s: %s, %s %s, session record, %zu runs ended\n", import->path, format, report->app.name,
            report->app.version, report->session.end_count);
        cli_document_fini(&shown);
        return;
    }
    if (report->kind == MIRE_REPORT_EVENT && report->event.duration_ms)
        snprintf(what, sizeof what, ", %u ms", report->event.duration_ms);
    say(stdout, "%s: %s, %s %s, %s%s, Caller1 %s, Caller2 %s\n", import->path, format, report->app.name,
        report->app.version, category_name(shown.feature.category), what, shown.feature.caller1.function,
        shown.feature.caller2.function);
    cli_document_fini(&shown);
}

static int send_one(struct import *import, const char *text, size_t len)
{
    struct text url = {0}, body = {0}, answer = {0};
    int rc = -1;
    if (len > REPORT_MAX_SENT) {
        say(stderr, "mire import: %s: the report has %zu bytes, and the server takes 4 MiB\n", import->path, len);
        import->refused++;
        return 0;
    }
    fetch_api_url(&url, import->server);
    text_add(&url, "/reports");
    text_append(&body, text, len);
    if (!text_failed(&url) && !text_failed(&body))
        rc = fetch_send(&answer, "POST", url.bytes, import->key, &body);
    text_fini(&url);
    text_fini(&body);
    text_fini(&answer);
    import->broken = rc != 0;
    return rc ? 1 : 0;
}

static int take(void *context, const struct decode_found *found)
{
    struct import *import = context;
    size_t len = found->len;
    char *text = found->report ? NULL : strndup(found->text, len);
    if (found->report && report_write(&text, &len, found->report))
        text = NULL;
    if (!text)
        return 1;
    int rc = 0;
    if (import->dry_run)
        show(import, found->format, text, len);
    else
        rc = send_one(import, text, len);
    free(text);
    import->reports += rc == 0;
    import->in_file++;
    if (import->terminal)
        say(stderr, "\r\033[K%zu files, %zu reports", import->files, import->reports);
    return rc;
}

static int refuse(void *context, enum decode_outcome outcome, const struct decode_fault *fault)
{
    struct import *import = context;
    say(stderr, "%smire import: %s: byte %zu%s%s: %s\n", import->terminal ? "\r\033[K" : "", import->path,
        fault->position, fault->path[0] ? ", at " : "", fault->path, fault->text);
    import->refused++;
    return outcome == MIRE_DECODE_NO_MEMORY;
}

/* ---- files ---- */

static long read_fd(void *context, void *out, size_t room)
{
    const int *fd = context;
    ssize_t len;
    do
        len = read(*fd, out, room);
    while (len < 0 && errno == EINTR);
    return (long)len;
}

struct reading_of { /* a reader, and the receiver of its reports */
    struct import *import;
    int fd;
    uint64_t left; /* of a member */
};

static long read_member(void *context, void *out, size_t room)
{
    struct reading_of *of = context;
    long len = read_fd(&of->fd, out, of->left < room ? (size_t)of->left : room);
    of->left -= len > 0 ? (uint64_t)len : 0;
    return len;
}

static int take_of(void *context, const struct decode_found *found)
{
    return take(((struct reading_of *)context)->import, found);
}

static int refuse_of(void *context, enum decode_outcome outcome, const struct decode_fault *fault)
{
    return refuse(((struct reading_of *)context)->import, outcome, fault);
}

/* Read all reports of a file. UNKNOWN: it has no known format, and no error was printed. */
static enum decode_outcome read_all(struct reading_of *of)
{
    struct decode_fault fault;
    const struct decode_each each = {.format = of->import->format,
                                     .context = of,
                                     .read = read_member,
                                     .found = take_of,
                                     .refused = of->import->in_archive ? NULL : refuse_of};
    of->import->in_file = 0;
    enum decode_outcome outcome = decode_each(&fault, &each);
    if (outcome == MIRE_DECODE_OK || outcome == MIRE_DECODE_STOPPED)
        return outcome;
    if (outcome != MIRE_DECODE_UNKNOWN || of->import->in_file)
        (void)refuse(of->import, outcome, &fault);
    return outcome;
}

static bool wanted(void *context, const char *name, const uint8_t *bytes, size_t len)
{
    (void)context;
    (void)name;
    return len > 0 && !archive_is(bytes, len); /* of an archive in an archive the members are wanted */
}

static void passed_over(void *context, const char *wrong)
{
    const struct reading_of *of = context;
    say(stderr, "mire import: %s: an archive in it %s\n", of->import->path, wrong);
    of->import->refused++;
}

static bool kept(void *context, uint64_t at, uint64_t len, const char *name)
{
    struct reading_of *of = context;
    const char *path = of->import->path;
    char both[4096 + MIRE_ARCHIVE_NAME];
    struct reading_of member = {of->import, of->fd, len};
    snprintf(both, sizeof both, "%s: %s", path, name);
    of->import->path = both;
    if (lseek(of->fd, (off_t)at, SEEK_SET) >= 0 && read_all(&member) == MIRE_DECODE_UNKNOWN)
        say(stderr, "mire import: %s is of no format that Mire knows\n", both);
    of->import->path = path;
    (void)lseek(of->fd, (off_t)(at + len), SEEK_SET);
    return !of->import->broken;
}

/* Each member is handled like a file. */
static bool read_archive(struct import *import, const char *bytes, size_t len)
{
    FILE *aside = tmpfile();
    struct reading_of of = {.import = import, .fd = aside ? fileno(aside) : -1};
    const struct archive_use use = {.context = &of,
                                    .wanted = wanted,
                                    .kept = kept,
                                    .passed_over = passed_over,
                                    .fd = of.fd,
                                    .kept_max = ARCHIVE_MAX,
                                    .members_max = MEMBERS_MAX};
    struct archive_end end;
    if (!aside)
        return false;
    import->in_archive = true;
    const char *wrong = archive_read(&end, &use, (const uint8_t *)bytes, len);
    import->in_archive = false;
    fclose(aside);
    if (!wrong)
        return true;
    say(stderr, "mire import: %s %s\n", import->path, wrong);
    import->refused++;
    return false;
}

/* A heap dump is read more than once, and so from a plain file alone. */
static void read_dump(struct import *import)
{
    struct decode_found found = {.format = "hprof"};
    MIRE_SCOPED(free_memory) char *text = hprof_file_report(&found.len, "mire import", import->path);
    found.text = text;
    if (text)
        (void)take(import, &found);
    else
        import->refused++;
}

static void read_file(struct import *import, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct reading_of of = {import, fd, UINT64_MAX};
    import->path = path;
    import->files++;
    if (fd < 0) {
        say(stderr, "mire import: cannot read %s: %s\n", path, strerror(errno));
        import->refused++;
        return;
    }
    if (!import->format && hprof_file_is(path)) {
        close(fd);
        read_dump(import);
        return;
    }
    enum decode_outcome outcome = read_all(&of);
    close(fd);
    if (outcome != MIRE_DECODE_UNKNOWN)
        return;
    size_t len;
    MIRE_SCOPED(free_memory) char *bytes = cli_read_file(&len, "mire import", path);
    if (bytes && archive_is((const uint8_t *)bytes, len)) {
        (void)read_archive(import, bytes, len);
        return;
    }
    say(stderr, "mire import: %s is of no format that Mire knows; --format NAME says which it is\n", path);
    import->refused++;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_path(struct import *import, const char *path, int depth)
{
    struct stat st;
    struct dirent **entries;
    if (import->broken)
        return;
    if (depth > DEPTH_MAX || stat(path, &st) || !S_ISDIR(st.st_mode)) {
        read_file(import, path);
        return;
    }
    int count = scandir(path, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char below[4096];
        if (entries[i]->d_name[0] != '.' &&
            snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name) < (int)sizeof below)
            read_path(import, below, depth + 1);
        import->path = path; /* `below` ends here */
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* ---- the command ---- */

static int list_formats(void)
{
    const char *title, *media, *name;
    for (size_t i = 0; (name = decode_format(i, &title, &media)); i++)
        say(stdout, "%-16s %-26s %s\n", name, title, media);
    say(stdout, "%-16s %-26s %s\n", "hprof", "Heap dump of Java, Android", "(a file alone; known by its content)");
    return CLI_DONE;
}

int cli_import(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]... FILE|DIR|ARCHIVE...\n--formats",
        .about = "Import reports of other formats: each becomes a report of Mire and is sent to the server with the "
                 "key in MIRE_KEY (scope ingest). A report that was sent before counts once, so repeat an import that "
                 "was interrupted. docs/import.md lists the formats."};
    struct import import = {.server = fetch_server(), .key = getenv("MIRE_KEY"), .terminal = isatty(2) == 1};
    bool formats = false;
    const struct cli_option options[] = {
        {"format", "NAME", "the format; default: detected by content", .text = &import.format},
        {"dry-run", .help = "send nothing, and print a line for each report", .flag = &import.dry_run},
        {"formats", .help = "list the formats", .flag = &formats},
        CLI_SERVER(import.server),
    };
    int status;
    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (formats)
        return list_formats();
    if (argc < 2)
        return cli_wrong(argv[0], "%s", "which files? Say FILE, DIR or ARCHIVE");
    if (!import.dry_run && !import.key)
        return cli_wrong(argv[0], "%s", "set MIRE_KEY to a key of scope ingest: mire key create APP");
    import.terminal &= !import.dry_run;
    for (int i = 1; i < argc; i++)
        read_path(&import, argv[i], 0);
    fflush(stdout);
    say(stderr, "%s%zu files: %zu reports %s, %zu refused%s\n", import.terminal ? "\r\033[K" : "", import.files,
        import.reports, import.dry_run ? "would come out" : "sent", import.refused,
        import.broken ? "; start it again: what is stored stays as it is" : "");
    return import.broken || import.refused ? CLI_FAILED : CLI_DONE;
}
