/*
 * memory.c - `mire memory FILE...`: the memory of a process, from the tables on its device's disk or from a report.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/heap_file.h"
#include "cli/hprof_file.h"
#include "cli/memory_view.h"
#include "cli/profile.h"
#include "cli/say.h"

#include "base/scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 100000

struct memory_request {
    struct memory_view view;
    const char *pprof, *collapsed, *rules;
};

/* A number of rows. */
static const char *take_rows(void *rows, char *text)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (!*text || *end || errno || *text == '-' || value > ROWS_MAX)
        return "--top, --stacks and --frames need a number, 100000 at most";
    *(size_t *)rows = value;
    return NULL;
}

static bool write_file(const char *path, const struct text *text)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "wb") : stdout;
    bool good = file && !text_failed(text) && fwrite(text->bytes, 1, text->len, file) == text->len;
    if (file && (file == stdout ? fflush(file) : fclose(file)) != 0)
        good = false;
    if (!good)
        say(stderr, "mire memory: cannot write %s\n", path);
    return good;
}

static bool export(const struct cli_document *document, const struct memory_request *request)
{
    struct text text = {0};
    bool good = true;

    if (request->pprof) {
        profile_pprof(&text, document);
        good = write_file(request->pprof, &text);
        text_fini(&text);
    }
    if (good && request->collapsed) {
        profile_collapsed(&text, document);
        good = write_file(request->collapsed, &text);
        text_fini(&text);
    }

    return good;
}

static bool show(const struct cli_document *document, const char *path, const struct memory_request *request)
{
    const struct report *report = &document->report;

    if (!report->memory.known) {
        say(stderr, "mire memory: %s: this report is not about memory; `mire show` prints it\n", path);
        return false;
    }
    if (request->pprof || request->collapsed)
        return export(document, request);
    bool placed = report->process.path[0];
    say(stdout, "file       %s\napp        %s %s, process %s%s%s%s\n", path, report->app.name, report->app.version,
        report->process.name, placed ? " (" : "", report->process.path, placed ? ")" : "");
    if (memory_print(stdout, document, &request->view) == 0 && request->view.category) {
        say(stderr, "mire memory: %s: there is no category '%s'\n", path, request->view.category);
        return false;
    }

    return true;
}

static bool do_file(const char *path, const struct memory_request *request)
{
    struct cli_document document;
    size_t len, text_len;

    MIRE_SCOPED(free_memory) char *text = NULL;
    MIRE_SCOPED(free_memory)
    char *bytes =
        hprof_file_is(path) ? hprof_file_report(&len, "mire memory", path) : cli_read_file(&len, "mire memory", path);
    if (!bytes)
        return false;
    bool tables = heap_file_is(bytes, len);
    const char *problem = tables ? heap_file_report(&text, &text_len, bytes, len) : NULL;
    if (problem) {
        say(stderr, "mire memory: %s: %s\n", path, problem);
        return false;
    }
    bool good = cli_document_make(&document, "mire memory", path, tables ? text : bytes, tables ? text_len : len,
                                  request->rules) &&
                show(&document, path, request);
    cli_document_fini(&document);
    return good;
}

int cli_memory(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]... FILE...",
        .about = "Print the memory that a process held, by category, and the stacks that allocated it. FILE is a run's "
                 "memory tables (STORE/memory/*.heap, STORE/box/*.heap), a memory report (JSON, or that compressed), "
                 "or a heap dump of Java or Android (hprof). - is standard input, for all but heap dumps."};
    struct memory_request request = {.view = MEMORY_VIEW_INIT};
    const struct cli_option options[] = {
        {"top", "N", "number of categories; default 20", .take = take_rows, .context = &request.view.categories},
        {"stacks", "N", "number of stacks of each category; default 3", .take = take_rows,
         .context = &request.view.stacks},
        {"frames", "N", "number of frames of each stack; default 12", .take = take_rows,
         .context = &request.view.frames},
        {"count", .help = "most blocks first, not most bytes", .flag = &request.view.by_count},
        {"category", "NAME", "this category only", .text = &request.view.category},
        {"pprof", "OUT", "write a profile for pprof (inuse_space, alloc_space, ...) and print nothing; one FILE",
         "FILE", .text = &request.pprof},
        {"collapsed", "OUT", "write stacks for flame graphs, weighted by bytes, and print nothing; one FILE", "FILE",
         .text = &request.collapsed},
        {"rules", "FILE", "rules that precede the built-in ones in finding the function to blame for a stack", "FILE",
         .text = &request.rules},
    };
    int rc;

    if (!cli_begin(&rc, &argc, &argv, options, CLI_COUNT(options), &page))
        return rc;
    if (argc == 1)
        return cli_wrong(argv[0], "which file? Say FILE");
    if ((request.pprof || request.collapsed) && argc > 2)
        return cli_wrong(argv[0], "--pprof and --collapsed write of one FILE");
    rc = CLI_DONE;
    for (int i = 1; i < argc; i++) {
        if (i > 1)
            putchar('\n');
        if (!do_file(argv[i], &request))
            rc = CLI_FAILED;
    }

    return rc;
}
