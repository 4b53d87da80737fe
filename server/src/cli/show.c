/*
 * show.c - `mire show FILE`: the sender of a report, its event, the hot stack, the call tree, its modules. The stages
 * do the work (document.h); this file only prints.
 */
#include "cli/show.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/memory_view.h"
#include "cli/say.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TREE_DEPTH_MAX 64
#define TREE_PERCENT   2 /* branches with a smaller share are left out */

static void print_head(const struct cli_document *shown)
{
    const struct report *report = &shown->report;
    const struct feature *feature = &shown->feature;

    say(stdout, "report     %s\n", report->id);
    say(stdout, "app        %s %s%s%s\n", report->app.name, report->app.version, report->app.build[0] ? " build " : "",
        report->app.build);
    if (report->kind == MIRE_REPORT_SESSION) {
        show_session(report);
        return;
    }
    if (shown->doc.memory.known)
        say(stdout, "kind       %s, %s%s%s\n", category_name(feature->category), reason_name(feature->reason),
            feature->subject[0] ? " of " : "", feature->subject);
    else
        show_event(report, feature, &shown->doc);
    say(stdout, "Caller1    %s (%s)\n", feature->caller1.function,
        feature->caller1.location[0] ? feature->caller1.location : feature->caller1.image);
    say(stdout, "Caller2    %s (%s)\n", feature->caller2.function,
        feature->caller2.location[0] ? feature->caller2.location : feature->caller2.image);
    say(stdout, "because    %s\n\n", feature->why);
    for (size_t i = 0; i < shown->doc.fact_count; i++)
        say(stdout, "%-22s %s\n", shown->doc.facts[i].name, shown->doc.facts[i].value);
}

/* The number of frames of the hottest stack that the device left out. */
static void print_left_out(const struct resolved *doc)
{
    size_t i = 0;

    while (i < doc->sample_count &&
           (doc->samples[i].node != doc->hot.node || doc->samples[i].thread != doc->hot.thread))
        i++;
    if (i == doc->sample_count)
        return;
    if (doc->samples[i].folded)
        say(stdout, "; %u frames of recursion are left out", doc->samples[i].folded);
    if (doc->samples[i].skipped)
        say(stdout, "; %u frames in the middle are left out", doc->samples[i].skipped);
}

static void print_hot(const struct cli_document *shown)
{
    const struct resolved *doc = &shown->doc;
    char why[256];
    size_t at = 0;

    say(stdout, "\nHottest stack: %u samples in a row, of %zu", doc->hot.run, doc->sample_count);
    if (doc->hot.thread)
        say(stdout, ", thread %s", doc->threads[doc->hot.thread - 1].name);
    print_left_out(doc);
    putchar('\n');
    for (uint32_t node = doc->hot.node; node; node = doc->nodes[node].parent, at++) {
        const struct resolved_location *location = &doc->locations[doc->nodes[node].location];
        const char *mark = (int32_t)at == doc->hot.caller2 ? "2>" : "  ";
        if ((int32_t)at == doc->hot.caller1)
            mark = "1>";
        say(stdout, "%s %5u  %-9s %s%s", mark, doc->hot.repeat[at], role_name(location->role), location->function,
            location->inlined ? " (inlined)" : "");
        if (location->file[0])
            say(stdout, "  %s:%u", location->file, location->line);
        else if (location->named)
            say(stdout, "  %s", location->image);
        feature_explain(why, sizeof why, doc, location);
        say(stdout, "\n            - %s\n", why);
    }
}

/* The states of the hottest stack's thread in the samples, in the order of their first occurrence. */
static void print_states(const struct resolved *doc)
{
    say(stdout, "\nThread\n");
    for (size_t i = 0; i < doc->sample_count; i++) {
        const struct report_sample *sample = &doc->samples[i];
        size_t before = 0, count = 0;
        if (sample->thread != doc->hot.thread)
            continue;
        while (doc->samples[before].thread != sample->thread || doc->samples[before].state != sample->state ||
               doc->samples[before].syscall != sample->syscall)
            before++;
        if (before < i)
            continue;
        for (size_t k = i; k < doc->sample_count; k++)
            count += doc->samples[k].thread == sample->thread && doc->samples[k].state == sample->state &&
                     doc->samples[k].syscall == sample->syscall;
        say(stdout, "   %5zu  state %c", count, sample->state);
        if (sample->syscall >= 0)
            say(stdout, ", in system call %d", sample->syscall);
        putchar('\n');
    }
}

struct tree {
    const struct resolved *doc;
    uint64_t *below;   /* per node, ms */
    uint32_t *child;   /* per node: first child, 0 none */
    uint32_t *sibling; /* per node */
};

static bool same_function(const struct tree *tree, uint32_t a, uint32_t b)
{
    const struct resolved_location *x = &tree->doc->locations[tree->doc->nodes[a].location];
    const struct resolved_location *y = &tree->doc->locations[tree->doc->nodes[b].location];
    return !strcmp(x->function, y->function) && !strcmp(x->image, y->image);
}

/* Print the children of a set of nodes, functions merged, in the order they come. */
static void print_level(const struct tree *tree, struct arena *arena, const uint32_t *set, size_t count, unsigned depth)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        for (uint32_t n = tree->child[set[i]]; n; n = tree->sibling[n])
            found++;
    uint32_t *next = arena_array(arena, found, sizeof *next);
    uint32_t *same = arena_array(arena, found, sizeof *same);
    if (!found || !next || !same || depth > TREE_DEPTH_MAX)
        return;
    found = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = tree->child[set[i]]; n; n = tree->sibling[n])
            next[found++] = n;
    for (size_t i = 0; i < found; i++) {
        uint64_t weight = 0;
        size_t group = 0;
        for (size_t k = i; next[i] && k < found; k++) {
            if (!next[k] || !same_function(tree, next[i], next[k]))
                continue;
            weight += tree->below[next[k]];
            same[group++] = next[k];
            if (k > i)
                next[k] = 0;
        }
        if (!group || weight * 100 < tree->below[0] * TREE_PERCENT)
            continue;
        say(stdout, "%5.1f %% %*s%s\n", 100.0 * (double)weight / (double)(tree->below[0] ? tree->below[0] : 1),
            (int)depth, "", tree->doc->locations[tree->doc->nodes[same[0]].location].function);
        print_level(tree, arena, same, group, depth + 1);
    }
}

static void print_tree(struct arena *arena, const struct resolved *doc)
{
    struct tree tree = {
        .doc = doc,
        .below = arena_array(arena, doc->node_count, sizeof *tree.below),
        .child = arena_array(arena, doc->node_count, sizeof *tree.child),
        .sibling = arena_array(arena, doc->node_count, sizeof *tree.sibling),
    };
    const uint32_t root = 0;

    if (!tree.below || !tree.child || !tree.sibling)
        return;
    for (size_t i = 0; i < doc->sample_count; i++)
        tree.below[doc->samples[i].node] += doc->samples[i].weight_ms;
    uint64_t without = tree.below[0];
    for (size_t n = doc->node_count - 1; n > 0; n--) {
        uint32_t parent = doc->nodes[n].parent;
        tree.below[parent] += tree.below[n];
        tree.sibling[n] = tree.child[parent];
        tree.child[parent] = (uint32_t)n;
    }

    say(stdout, "\nCall tree, %" PRIu64 " ms sampled\n", tree.below[0]);
    if (without)
        say(stdout, "%5.1f %% (no stack)\n", 100.0 * (double)without / (double)tree.below[0]);
    print_level(&tree, arena, &root, 1, 0);
}

static void print_images(const struct report *report)
{
    say(stdout, "\nModules\n");
    for (size_t i = 0; i < report->image_count; i++) {
        const struct report_image *image = &report->images[i];
        for (size_t k = 0; k < image->id_len; k++)
            say(stdout, "%02x", image->id[k]);
        say(stdout, "%s  0x%012" PRIx64 "  %s\n", image->id_len ? "" : "(no build id)", image->load, image->name);
    }
}

static void print(struct cli_document *shown)
{
    const struct memory_view view = MEMORY_VIEW_INIT;

    print_head(shown);
    if (shown->report.kind == MIRE_REPORT_SESSION)
        return;
    if (shown->doc.memory.known) {
        putchar('\n');
        memory_print(stdout, shown, &view);
    } else {
        print_hot(shown);
        print_states(&shown->doc);
        print_tree(&shown->arena, &shown->doc);
        show_threads(&shown->doc);
        show_cost(&shown->doc);
    }
    print_images(&shown->report);
}

int cli_show(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]... FILE",
        .about = "Print a report: JSON, plain or compressed by zstd or gzip. - is standard input. Below each frame of "
                 "the hottest stack is the rule that kept or skipped it."};
    const char *rules_path = NULL;
    const struct cli_option options[] = {
        {"rules", "FILE", "rules that precede the built-in ones, as the setting rules of mired", "FILE",
         .text = &rules_path},
    };
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc != 2)
        return cli_wrong(argv[0], argc > 2 ? "one report, please: there is '%s' too" : "which report? Say FILE%s",
                         argc > 2 ? argv[2] : "");
    size_t len;
    MIRE_SCOPED(free_memory) char *bytes = cli_read_file(&len, "mire show", argv[1]);
    if (!bytes)
        return CLI_FAILED;
    struct cli_document shown;
    bool good = cli_document_make(&shown, "mire show", argv[1], bytes, len, rules_path);
    if (good)
        print(&shown);
    cli_document_fini(&shown);
    return good ? CLI_DONE : CLI_FAILED;
}
