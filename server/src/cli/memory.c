/*
 * memory.c - `mire memory FILE...`: what a process held, from the tables that lie on its device's disk or from a
 * report.
 */
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/heap_file.h"
#include "cli/memory_view.h"
#include "cli/profile.h"
#include "cli/table.h"

#include "base/scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 100000

static const char usage[] =
    "Usage: mire memory [OPTION]... FILE...\n\n"
    "Print what a process held in memory, by category, and the stacks that asked for it. FILE is a run's memory "
    "tables\n"
    "(STORE/memory/*.heap, STORE/box/*.heap) or a memory report: JSON, or that compressed. - is standard input.\n\n"
    "  --top N          categories shown (20)\n"
    "  --stacks N       stacks of each (3)\n"
    "  --frames N       frames of each stack (12)\n"
    "  --count          most blocks first, not most bytes\n"
    "  --category NAME  this category only\n"
    "  --pprof OUT      write a profile for pprof (inuse_space, alloc_space, ...) and print nothing; one FILE\n"
    "  --collapsed OUT  write stacks for flame graphs, weighted by bytes, and print nothing; one FILE\n"
    "  --rules FILE     rules asked before the built-in ones for who answers for a stack\n";

struct request {
    struct memory_view view;
    const char *pprof, *collapsed, *rules;
    int first; /* FILE in argv */
};

/* A number of rows; false if it is none. */
static bool read_rows(size_t *out, const char *text)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (!*text || *end || errno || *text == '-' || value > ROWS_MAX)
        return false;
    *out = value;
    return true;
}

/* CLI_DONE, or CLI_USAGE after it said why. */
static int read_arguments(struct request *out, int argc, char **argv)
{
    const struct {
        const char *name;
        size_t *rows;
        const char **text;
    } options[] = {
        {"--top", &out->view.categories, NULL}, {"--stacks", &out->view.stacks, NULL},
        {"--frames", &out->view.frames, NULL},  {"--category", NULL, &out->view.category},
        {"--pprof", NULL, &out->pprof},         {"--collapsed", NULL, &out->collapsed},
        {"--rules", NULL, &out->rules},
    };
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        size_t k = 0;
        if (!strcmp(argv[i], "--count")) {
            out->view.by_count = true;
            continue;
        }
        while (k < sizeof options / sizeof *options && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k == sizeof options / sizeof *options) {
            fprintf(stderr, "mire memory: there is no option '%s'\n", argv[i]);
            return CLI_USAGE;
        }
        if (++i == argc || (options[k].rows && !read_rows(options[k].rows, argv[i]))) {
            fprintf(stderr, "mire memory: %s needs %s\n", options[k].name, options[k].rows ? "a number" : "a value");
            return CLI_USAGE;
        }
        if (options[k].text)
            *options[k].text = argv[i];
    }
    out->first = i;
    if (i == argc || ((out->pprof || out->collapsed) && argc - i > 1)) {
        fputs(usage, stderr);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static bool write_file(const char *path, const struct text *text)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "wb") : stdout;
    bool good = file && !text_failed(text) && fwrite(text->bytes, 1, text->len, file) == text->len;
    if (file && (file == stdout ? fflush(file) : fclose(file)) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "mire memory: cannot write %s\n", path);
    return good;
}

static bool export(const struct cli_document *document, const struct request *request)
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

static bool show(const struct cli_document *document, const char *path, const struct request *request)
{
    const struct report *report = &document->report;
    if (!report->memory.known) {
        fprintf(stderr, "mire memory: %s: this report is not about memory; `mire show` prints it\n", path);
        return false;
    }
    if (request->pprof || request->collapsed)
        return export(document, request);
    struct text head = {0};
    bool placed = report->process.path[0];
    text_printf(&head, "file       %s\napp        %s %s, process %s%s%s%s\n", path, report->app.name,
                report->app.version, report->process.name, placed ? " (" : "", report->process.path, placed ? ")" : "");
    table_print(stdout, head.bytes ? head.bytes : "");
    text_fini(&head);
    if (memory_print(stdout, document, &request->view) == 0 && request->view.category) {
        fprintf(stderr, "mire memory: %s: there is no category '%s'\n", path, request->view.category);
        return false;
    }
    return true;
}

static bool do_file(const char *path, const struct request *request)
{
    struct cli_document document;
    size_t len, text_len;
    MIRE_SCOPED(free_memory) char *text = NULL;
    MIRE_SCOPED(free_memory) char *bytes = cli_read_file(&len, "mire memory", path);
    if (!bytes)
        return false;
    bool tables = heap_file_is(bytes, len);
    const char *problem = tables ? heap_file_report(&text, &text_len, bytes, len) : NULL;
    if (problem) {
        fprintf(stderr, "mire memory: %s: %s\n", path, problem);
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
    struct request request = {.view = MEMORY_VIEW_INIT};
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return CLI_DONE;
    }
    int rc = read_arguments(&request, argc, argv);
    for (int i = request.first; rc != CLI_USAGE && i < argc; i++) {
        if (i > request.first)
            putchar('\n');
        if (!do_file(argv[i], &request))
            rc = CLI_FAILED;
    }
    return rc;
}
