/*
 * document.c - see document.h. The stages of the server do the work.
 */
#include "cli/document.h"
#include "cli/say.h"

#include "base/scope.h"
#include "decode/decode.h"
#include "decode/write.h"
#include "feature/memory.h"
#include "symbolicate/symbolicate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (512u << 20)
#define FIRST_BYTES    (1u << 20)
#define ARENA_BYTES    (1u << 30)

char *cli_read_file(size_t *len_out, const char *command, const char *path)
{
    FILE *input = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    int reason = errno;
    size_t room = FIRST_BYTES, len = 0;

    char *bytes = malloc(room);
    while (input && bytes && (len += fread(bytes + len, 1, room - len, input)) == room && room < FILE_MAX_BYTES) {
        char *more = realloc(bytes, room *= 2);
        if (!more)
            free(bytes);
        bytes = more;
    }

    if (input && input != stdin)
        fclose(input);
    if (input && bytes) {
        *len_out = len;
        return bytes;
    }
    say(stderr, "%s: cannot read %s: %s\n", command, path, strerror(input ? ENOMEM : reason));
    free(bytes);
    return NULL;
}

static bool complain(const char *command, const char *path, enum decode_outcome outcome,
                     const struct decode_fault *fault)
{
    if (outcome == MIRE_DECODE_MALFORMED)
        say(stderr, "%s: %s is no report: byte %zu: %s\n", command, path, fault->position, fault->text);
    else if (outcome == MIRE_DECODE_WRONG)
        say(stderr, "%s: %s: at %s: %s\n", command, path, fault->path[0] ? fault->path : "the document", fault->text);
    else
        say(stderr, "%s: %s: %s\n", command, path, fault->text[0] ? fault->text : "out of memory");
    return false;
}

/* The first report of an input of another format, as a document of Mire's own. */
struct first {
    char *text;
    size_t len;
};

static int take_first(void *context, const struct decode_found *found)
{
    struct first *first = context;
    if (!found->report)
        first->text = strndup(found->text, first->len = found->len);
    else if (report_write(&first->text, &first->len, found->report))
        first->text = NULL;
    return 1;
}

static bool decode(struct cli_document *out, const char *command, const char *path, const char *bytes, size_t len)
{
    struct decode_fault fault;
    struct first first = {0};
    const struct decode_each each = {.context = &first, .found = take_first};
    enum decode_outcome outcome = decode_each_of(&fault, &each, bytes, len);
    if (!first.text)
        return complain(command, path, outcome == MIRE_DECODE_STOPPED ? MIRE_DECODE_NO_MEMORY : outcome, &fault);
    outcome = decode_report(&out->report, &out->arena, &fault, "mire", "identity", first.text, first.len);
    free(first.text);
    return outcome == MIRE_DECODE_OK || complain(command, path, outcome, &fault);
}

static int name_frames(struct cli_document *out)
{
    static const char *const dirs[] = {"/usr/lib/debug"};
    struct symbols_options options = MIRE_SYMBOLS_OPTIONS;
    struct symbolicate_counts counts;
    struct symbols *symbols;

    options.dirs = dirs;
    options.dir_count = 1;
    options.local_images = true;
    if (symbols_open(&symbols, &options))
        return -1;
    int rc = symbolicate(&out->doc, &counts, &out->arena, symbols, &out->report, 0);
    symbols_close(symbols);
    return rc;
}

/* Without healthy processes to compare with, the rules for suspects use the held amounts alone. */
static int judge(struct cli_document *out)
{
    struct memory_packs packs = {.rules = out->rules};
    struct rules_fault fault;
    struct suspect_rules *suspects;

    if (!out->report.memory.known)
        return feature_find(&out->feature, &out->arena, &out->doc, &out->report, out->rules, NULL);
    if (suspect_rules_builtin(&suspects, &fault) != MIRE_RULES_OK)
        return -1;
    packs.suspects = suspects;
    int rc = feature_find_memory(&out->feature, &out->arena, &out->doc, &out->report, &packs);
    suspect_rules_free(suspects);
    return rc;
}

bool cli_document_make(struct cli_document *out, const char *command, const char *path, const char *bytes, size_t len,
                       const char *rules_path)
{
    struct rules_fault fault = {0};

    *out = (struct cli_document){0};
    arena_init(&out->arena, ARENA_BYTES);
    if (rules_load(&out->rules, &fault, rules_path) != MIRE_RULES_OK) {
        say(stderr, "%s: %s:%u: %s\n", command, rules_path, fault.line, fault.text);
        return false;
    }
    if (!decode(out, command, path, bytes, len))
        return false;
    if (name_frames(out) || judge(out)) {
        say(stderr, "%s: %s: out of memory\n", command, path);
        return false;
    }

    return true;
}

void cli_document_fini(struct cli_document *document)
{
    rules_free(document->rules);
    arena_fini(&document->arena);
}
