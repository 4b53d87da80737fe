/*
 * dump.c - prints the contents of a heap file as JSON on standard output.
 *
 *     heap_dump FILE
 *     heap_dump --report FILE     the report that the library makes from it, with all stacks
 *
 * {"facts": {...}, "drops": {reason: count}, "categories": {name: {...}}, "images": [path], "stacks": [{...}]}: for a
 * category the live memory, estimated, and in exact mode totals and peaks; for a stack its live blocks, estimated, and
 * its frames from the innermost on as [image, address in the file]. Exits 1 if FILE is no heap file.
 */
#include "heapread/read.h"
#include "report/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct estimate {
    uint64_t seen; /* blocks in the file */
    double count, bytes;
};

struct sums {
    struct estimate categories[MIRE_CATEGORIES_MAX];
    struct estimate *stacks; /* by node */
};

static void add(struct estimate *to, const struct heap_live *live)
{
    to->seen++;
    to->count += 1 / live->chance, to->bytes += (double)live->size / live->chance;
}

static bool on_live(void *context, const struct heap_live *live)
{
    struct sums *sums = context;

    if (live->category < MIRE_CATEGORIES_MAX)
        add(&sums->categories[live->category], live);
    if (live->node < MIRE_HEAP_WORDS_MAX && live->category != MIRE_CATEGORY_KINDS + MIRE_KIND_BRK)
        add(&sums->stacks[live->node], live);
    return true;
}

/* Print the separator between the members of a list. */
static void separate(bool *first)
{
    fputs(*first ? "\n" : ",\n", stdout);
    *first = false;
}

static void print_text(const char *text, uint32_t bytes)
{
    putchar('"');
    for (uint32_t i = 0; i < bytes && text[i]; i++)
        if (text[i] < 32 || text[i] == '"' || text[i] == '\\')
            printf("\\u%04x", (unsigned char)text[i]);
        else
            putchar(text[i]);
    putchar('"');
}

static void print_estimate(const struct estimate *estimate)
{
    printf("\"seen\": %" PRIu64 ", \"count\": %.3f, \"bytes\": %.3f", estimate->seen, estimate->count, estimate->bytes);
}

static void print_facts(const struct heap_reader *reader)
{
    struct heap_facts facts;

    mire__read_facts(&facts, reader);
    printf("{\"facts\": {\"pid\": %u, \"mode\": %d, \"interval\": %" PRIu64
           ", \"stopped\": %d, \"degrade_count\": %u, \"inexact_ns\": %" PRIu64,
           facts.pid, (int)facts.mode, facts.interval_bytes, facts.stopped, facts.degrade_count, facts.inexact_ns);
    printf(", \"budget\": %" PRIu64 ", \"used\": %" PRIu64 ", \"used_most\": %" PRIu64 ", \"allocated\": %" PRIu64
           ", \"freed\": %" PRIu64,
           facts.budget_bytes, facts.used_bytes, facts.used_most_bytes, facts.allocated_count, facts.freed_count);
    printf(", \"nodes\": %u, \"places\": %u, \"threads\": %u, \"images\": %u, \"stack_bytes\": %" PRIu64
           "}, \"drops\": {",
           facts.node_count, facts.pc_count, facts.thread_count, facts.image_count, facts.stack_bytes);
    for (uint32_t i = 0; i < MIRE_HEAP_DROPS; i++)
        printf("%s\"%s\": %" PRIu64, i ? ", " : "", mire__read_drop_name((enum heap_drop)i), facts.drops[i]);
    printf("}");
}

static void print_categories(const struct heap_reader *reader, const struct sums *sums)
{
    bool first = true;

    printf(", \"categories\": {");
    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX; i++) {
        struct heap_category category;

        if (!mire__read_category(&category, reader, i) || (sums->categories[i].seen == 0 && category.total_count == 0))
            continue;
        separate(&first);
        print_text(category.name, sizeof(category.name));
        printf(": {");
        print_estimate(&sums->categories[i]);
        printf(", \"total_count\": %" PRIu64 ", \"total_bytes\": %" PRIu64 ", \"peak_count\": %" PRIu64
               ", \"peak_bytes\": %" PRIu64 "}",
               category.total_count, category.total_bytes, category.peak_count, category.peak_bytes);
    }
    printf("}");
}

static void print_images(const struct heap_reader *reader)
{
    struct heap_read_image image;
    bool first = true;

    printf(", \"images\": [");
    for (uint32_t i = 0; mire__read_image(&image, reader, i); i++) {
        separate(&first);
        print_text(image.path, image.path_bytes);
    }
    printf("]");
}

static void print_frames(const struct heap_reader *reader, uint32_t node)
{
    struct heap_frame frame;
    struct heap_read_image image;
    bool first = true;

    printf(", \"frames\": [");
    while (mire__read_frame(&frame, reader, &node)) {
        bool known = mire__read_image(&image, reader, frame.image);

        separate(&first);
        printf("[%d, %" PRIu64 "]", known ? (int)frame.image : -1, known ? frame.address - image.load : frame.address);
    }
    printf("]");
}

static void print_stacks(const struct heap_reader *reader, const struct sums *sums)
{
    bool first = true;

    printf(", \"stacks\": [");
    for (uint32_t i = 0; i < MIRE_HEAP_WORDS_MAX; i++) {
        if (sums->stacks[i].seen == 0)
            continue;
        separate(&first);
        printf("{");
        print_estimate(&sums->stacks[i]);
        print_frames(reader, i);
        printf("}");
    }
    printf("]}\n");
}

/* Returns the exit code. */
static int print_report(const struct heap_reader *reader)
{
    static struct blackbox_facts facts;
    struct memory_said said = {.trigger = "demand",
                               .id = "00000000-0000-7000-8000-000000000000",
                               .facts = &facts,
                               .ground = MIRE_GROUND_UNKNOWN,
                               .taken_ns = UINT64_MAX,
                               .caps = MIRE_MEMORY_CAPS_ALL};
    char *text;
    size_t size;

    if (mire__memory_json(&text, &size, reader, &said) != MIRE_OK)
        return 1;
    return fwrite(text, 1, size, stdout) != size;
}

/* As print_report. */
static int print_tables(const struct heap_reader *reader)
{
    static struct sums sums;

    sums.stacks = calloc(MIRE_HEAP_WORDS_MAX, sizeof(*sums.stacks));
    if (!sums.stacks)
        return 1;
    mire__read_blocks(reader, on_live, &sums);
    mire__read_mappings(reader, on_live, &sums);
    print_facts(reader);
    print_categories(reader, &sums);
    print_images(reader);
    print_stacks(reader, &sums);
    return 0;
}

int main(int argc, char **argv)
{
    static struct heap_reader reader;
    struct stat stat;
    bool report = argc == 3 && strcmp(argv[1], "--report") == 0;
    int file = argc == 2 || report ? open(argv[argc - 1], O_RDONLY) : -1;
    void *bytes = file >= 0 && fstat(file, &stat) == 0
                      ? mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, file, 0)
                      : MAP_FAILED;

    if (bytes == MAP_FAILED || mire__read_open(&reader, bytes, (uint64_t)stat.st_size) != MIRE_READ_OK)
        return 1;
    return report ? print_report(&reader) : print_tables(&reader);
}
