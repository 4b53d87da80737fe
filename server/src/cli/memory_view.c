/* memory_view.c - see memory_view.h. Texts come from reports: all of them go through say_add. */
#include "cli/memory_view.h"

#include "base/scope.h"
#include "cli/heap_file.h"
#include "cli/say.h"
#include "cli/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRAIL_SHOWN    8
#define MOSTLY_PERCENT 90 /* explained so much, the rest is not shown */

/* ---- figures ---- */

struct figure {
    char text[40];
};

/* "412.0 MiB" */
static struct figure bytes_of(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct figure figure;
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(figure.text, sizeof figure.text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return figure;
}

/* "1,204,233" */
static struct figure count_of(uint64_t count)
{
    struct figure figure;
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t at = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            figure.text[at++] = ',';
        figure.text[at++] = digits[i];
    }
    figure.text[at] = '\0';
    return figure;
}

/* "+12.0 MiB", "-" if unknown */
static struct figure growth_of(const struct memory_growth *grown)
{
    struct figure figure = {"-"};

    if (!grown->known)
        return figure;
    struct figure size = bytes_of(grown->bytes < 0 ? 0 - (uint64_t)grown->bytes : (uint64_t)grown->bytes);
    const char *sign = grown->bytes > 0 ? "+" : "";
    if (grown->bytes < 0)
        sign = "-";
    snprintf(figure.text, sizeof figure.text, "%s%.38s", sign, size.text);
    return figure;
}

static struct figure fact_of(struct fact fact)
{
    struct figure none = {"-"};
    return fact.known ? bytes_of(fact.value) : none;
}

/* " +/- 8.6 MiB" after an estimate, otherwise nothing */
static struct figure error_of(struct fact error, struct figure (*written)(uint64_t value))
{
    struct figure figure = {""};
    if (error.known && error.value)
        snprintf(figure.text, sizeof figure.text, " +/- %.32s", written(error.value).text);
    return figure;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- the head ---- */

/* The process is dead, so the pages of its mappings in memory are unknown. */
static bool is_of_the_dead(const struct memory *memory)
{
    return !strcmp(memory->trigger, "foom") || !strcmp(memory->trigger, HEAP_FILE_TRIGGER);
}

/* Where the footprint is from, where that is worth a word; NULL. */
static const char *footprint_source(const struct memory *memory)
{
    static const char *const words[][2] = {
        {"look", "as it was looked at last"},
        {"tables", "by what the notes hold (it grew after the last look)"},
        {"exit", "by its largest resident set (it grew after the last look)"},
    };

    for (size_t i = 0; memory->footprint_from && i < sizeof words / sizeof *words; i++)
        if (!strcmp(memory->footprint_from, words[i][0]))
            return words[i][1];
    return NULL;
}

static void add_footprint(struct text *out, const struct memory *memory)
{
    if (memory->footprint_bytes.known) {
        say_add(out, "footprint  %s", bytes_of(memory->footprint_bytes.value).text);
        if (footprint_source(memory))
            say_add(out, " %s", footprint_source(memory));
        if (memory->footprint_peak_bytes.known)
            say_add(out, ", at most %s", bytes_of(memory->footprint_peak_bytes.value).text);
        if (memory->limit_bytes.known)
            say_add(out, "; limit %s", bytes_of(memory->limit_bytes.value).text);
        if (memory->limit_used_bytes.known)
            say_add(out, ", of which %s were used", bytes_of(memory->limit_used_bytes.value).text);
        text_add(out, "\n");
    }
}

/* The bytes of blocks, of other mappings, and their share of the footprint. */
static void add_held(struct text *out, const struct memory *memory)
{
    uint64_t others = 0, of_allocators = 0;

    for (size_t i = 0; i < memory->category_count; i++)
        if (memory->categories[i].kind == MIRE_MEMORY_VM)
            *(memory_is_of_allocator(&memory->categories[i]) ? &of_allocators : &others) +=
                memory->categories[i].held_bytes;
    say_add(out, "live       %s%s in %s%s blocks\n", bytes_of(memory->live_bytes).text,
            error_of(memory->error_bytes, bytes_of).text, count_of(memory->live_count).text,
            error_of(memory->error_count, count_of).text);
    if (others || of_allocators) {
        say_add(out, "mapped     %s", bytes_of(others).text);
        if (of_allocators)
            say_add(out, ", besides %s that hold blocks", bytes_of(of_allocators).text);
        if (memory->mapped_bytes.known && memory->mapped_bytes.value > others + of_allocators)
            say_add(out, "; %s of addresses", bytes_of(memory->mapped_bytes.value).text);
        text_add(out, "\n");
    }
    if (!memory->explained_bytes.known || !memory->footprint_bytes.known)
        return;
    double explained = percent(memory->explained_bytes.value, memory->footprint_bytes.value);
    say_add(out, "explained  %.0f %% of the footprint\n", explained);
    if (is_of_the_dead(memory) && explained < MOSTLY_PERCENT)
        text_add(out, "           mappings count as they were looked at last: pages filled after that are not in it\n");
}

static void add_trail(struct text *out, const struct memory *memory)
{
    size_t shown = memory->point_count < TRAIL_SHOWN ? memory->point_count : TRAIL_SHOWN;

    if (shown < 2)
        return;
    text_add(out, "trail     ");
    for (size_t i = 0; i < shown; i++) {
        const struct memory_point *point = &memory->trail[i * (memory->point_count - 1) / (shown - 1)];
        say_add(out, "%s %s at %.1f s", i ? "," : "", bytes_of(point->footprint_bytes).text, point->at_ms / 1000.0);
    }
    text_add(out, "\n");
}

static void add_monitor(struct text *out, const struct memory *memory)
{
    if (memory->sampled)
        say_add(out,
                "mode       sampled, one block in %s; all figures are estimates, +/- where the truth lies 95 times "
                "of 100\n",
                bytes_of(memory->interval_bytes.value).text);
    else
        text_add(out, "mode       exact\n");
    if (memory->degraded.times)
        say_add(out, "degraded   %" PRIu64 " times, as the tables were full; asked for was %s\n",
                memory->degraded.times, memory->degraded.sampled ? "a shorter interval" : "exact");
    for (size_t i = 0; i < memory->drop_count; i++) {
        text_add(out, i ? ", " : "lost       ");
        say_add(out, "%s", memory->drops[i].name);
        say_add(out, " %s", count_of(memory->drops[i].value).text);
    }

    if (memory->drop_count)
        text_add(out, "\n");
}

static void add_head(struct text *out, const struct memory *memory)
{
    text_add(out, "taken      ");
    say_add(out, "%s", memory->trigger);
    if (memory->name[0]) {
        text_add(out, ", ");
        say_add(out, "%s", memory->name);
    }
    if (memory->foreground_known)
        text_add(out, memory->foreground ? ", in the foreground" : ", in the background");
    text_add(out, "\n");
    add_footprint(out, memory);
    add_held(out, memory);
    add_trail(out, memory);
    add_monitor(out, memory);
    if (memory->grown_ms.known)
        say_add(out, "growth     counted over %.1f s\n", (double)memory->grown_ms.value / 1000);
}

/* ---- the table ---- */

/* The last two are totals and peaks if known, or the error of an estimate. */
static void add_cells(struct text *out, const char *bytes, const char *count, const char *growth, const char *fourth,
                      const char *fifth)
{
    table_cell(out, bytes, -11);
    table_cell(out, count, -13);
    table_cell(out, growth, -12);
    table_cell(out, fourth, -12);
    table_cell(out, fifth, -12);
    text_add(out, "  ");
}

static void add_category(struct text *out, const struct memory *memory, size_t i)
{
    const struct memory_category *category = &memory->categories[i];
    const struct figure none = {"-"};
    bool gauge = category->kind == MIRE_MEMORY_GAUGE;
    bool part =
        category->kind == MIRE_MEMORY_PART || (gauge && !category->live_count); /* no things, so none to count */
    struct figure fourth = memory->sampled ? fact_of(category->error_bytes) : fact_of(category->total_bytes);
    struct figure fifth = fact_of(category->peak_bytes);

    if (memory->sampled)
        fifth = category->error_count.known ? count_of(category->error_count.value) : (struct figure){"-"};
    add_cells(out, bytes_of(category->held_bytes).text, (part ? none : count_of(category->live_count)).text,
              growth_of(&category->grown).text, (part || gauge ? none : fourth).text,
              (part || gauge ? none : fifth).text);
    say_add(out, "%s", category->name);
    if (category->held_bytes < category->live_bytes)
        say_add(out, "   of %s %s", bytes_of(category->live_bytes).text,
                category->kind == MIRE_MEMORY_VM ? "mapped" : "allocated");
    if (memory_is_of_allocator(category))
        text_add(out, "   holds blocks");
    if (gauge)
        text_add(out, "   measured by the app, in no sum");
    if (memory->found && memory->found[i].rank)
        say_add(out, "   suspect: %s", memory_reason_name(memory->found[i].reason));
    text_add(out, "\n");
}

static void add_stack(struct text *out, const struct resolved *doc, size_t s, const struct memory_view *view)
{
    const struct memory_stack *stack = &doc->memory.stacks[s];
    const struct memory_category *category = &doc->memory.categories[stack->category];
    size_t at = 0;

    say_add(out, "  %3.0f %%  %s%s in %s%s %s%s", percent(stack->bytes, category->live_bytes),
            bytes_of(stack->bytes).text, error_of(stack->error_bytes, bytes_of).text, count_of(stack->count).text,
            error_of(stack->error_count, count_of).text, category->kind == MIRE_MEMORY_VM ? "mapping" : "block",
            stack->count == 1 ? "" : "s");
    if (stack->grown.known && stack->grown.bytes)
        say_add(out, ", grown by %s", growth_of(&stack->grown).text);
    text_add(out, stack->node ? "\n" : ", stack not known\n");
    for (uint32_t node = stack->node; node; node = doc->nodes[node].parent, at++) {
        const struct resolved_location *location = &doc->locations[doc->nodes[node].location];
        if (at >= view->frames && (int32_t)at > stack->caller1) {
            text_add(out, "           ...\n");
            break;
        }
        text_add(out, (int32_t)at == stack->caller1 ? "        1> " : "           ");
        say_add(out, "%s", location->function);
        if (location->file[0]) {
            text_add(out, "  ");
            say_add(out, "%s", location->file);
            say_add(out, ":%u", location->line);
        } else if (location->named) {
            text_add(out, "  ");
            say_add(out, "%s", location->image);
        }
        text_add(out, "\n");
    }
}

static bool is_alive(const struct memory_category *category)
{
    return category->live_count || category->live_bytes;
}

/*
 * A category without live blocks is shown if its peak is at least about a hundredth of the largest category, live or
 * peak; otherwise on request only.
 */
static bool is_shown(const struct memory_category *category, const struct memory_view *view, uint64_t largest)
{
    if (view->category)
        return !strcmp(view->category, category->name);
    return is_alive(category) || (category->peak_bytes.value && category->peak_bytes.value >= largest / 100);
}

static uint64_t largest_of(const struct memory *memory)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < memory->category_count; i++) {
        const struct memory_category *category = &memory->categories[i];
        uint64_t most =
            category->live_bytes > category->peak_bytes.value ? category->live_bytes : category->peak_bytes.value;
        largest = most > largest ? most : largest;
    }
    return largest;
}

static bool comes_before(const struct memory_category *a, const struct memory_category *b, bool by_count)
{
    uint64_t much = by_count ? a->live_count : a->held_bytes, other = by_count ? b->live_count : b->held_bytes;
    return much != other ? much > other : !is_alive(b) && a->peak_bytes.value > b->peak_bytes.value;
}

/* The next category to show, marked as shown; category_count if none is left. */
static size_t next_category(bool *taken, const struct memory *memory, const struct memory_view *view, uint64_t largest)
{
    const struct memory_category *all = memory->categories;
    size_t best = memory->category_count;

    for (size_t i = 0; i < memory->category_count; i++)
        if (!taken[i] && is_shown(&all[i], view, largest) &&
            (best == memory->category_count || comes_before(&all[i], &all[best], view->by_count)))
            best = i;
    if (best < memory->category_count)
        taken[best] = true;
    return best;
}

/* "2.0 MiB  in 3 categories more" */
static void add_rest(struct text *out, const char *much, size_t count, const char *which)
{
    if (count)
        say_add(out, "%11s  in %zu categor%s more%s\n", much, count, count == 1 ? "y" : "ies", which);
}

static size_t add_table(struct text *out, const struct resolved *doc, const struct memory_view *view)
{
    const struct memory *memory = &doc->memory;

    MIRE_SCOPED(free_memory) bool *taken = calloc(memory->category_count + 1, sizeof *taken);
    const uint64_t largest = largest_of(memory);
    size_t shown = 0, rest = 0, gone = 0, i;
    uint64_t rest_bytes = 0;
    text_add(out, "\n");
    add_cells(out, "Live bytes", "# live", "Growth", memory->sampled ? "+/- bytes" : "Total bytes",
              memory->sampled ? "+/- #" : "Peak bytes");
    text_add(out, "Category\n");
    for (; taken && shown < view->categories &&
           (i = next_category(taken, memory, view, largest)) < memory->category_count;
         shown++) {
        struct memory_stacks stacks = memory_stacks_of(memory, i);
        add_category(out, memory, i);
        for (size_t s = 0; s < stacks.count && s < view->stacks; s++)
            add_stack(out, doc, stacks.first + s, view);
    }

    for (i = 0; taken && !view->category && i < memory->category_count; i++) {
        if (taken[i])
            continue;
        rest += is_alive(&memory->categories[i]);
        gone += !is_alive(&memory->categories[i]);
        if (!memory_is_beside(&memory->categories[i]))
            rest_bytes += memory->categories[i].held_bytes;
    }

    add_rest(out, bytes_of(rest_bytes).text, rest, "");
    add_rest(out, "-", gone, ", of which nothing is left");
    return shown;
}

size_t memory_print(FILE *out, const struct cli_document *document, const struct memory_view *view)
{
    struct text text = {0};
    add_head(&text, &document->doc.memory);
    size_t shown = add_table(&text, &document->doc, view);
    fwrite(text.bytes, 1, text.len, out);
    text_fini(&text);
    return shown;
}
