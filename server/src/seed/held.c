/* held.c - see held.h. */
#include "seed/held.h"
#include "seed/inside.h"
#include "seed/seed.h"

#define KIB           1024u
#define MIB           (1024u * KIB)
#define COUNT(array)  (sizeof(array) / sizeof *(array))
#define NEVER_FEWER   3   /* thousandths of the leak that the last minute added, at least */
#define OWN_OF_BLOCKS 12u /* an allocator keeps a twelfth of its blocks' bytes for itself, and free */

enum held_function {
    MAIN,
    ON_OPEN,
    ON_SCROLL,
    ON_SEARCH,
    ON_SYNC,
    ON_PASTE,
    DECODE_STEP,
    DECODE,
    CACHE_PUT,
    DRAW_PAGE,
    LOAD_ICONS,
    LAYOUT_MESSAGES,
    MERGE_MESSAGES,
    STORE_MESSAGE,
    LOAD_MESSAGES,
    LOAD_BOOKMARKS,
    OPEN_PANEL,
    INDEX_HISTORY,
    ADD_HISTORY,
    PARSE_HISTORY,
    READ_DOCUMENT,
    COPY_SELECTION,
    PARSE_BOOKMARKS,
    LOAD_FONTS,
    MAP_FONT,
    NEW_PIXBUF,
    NEW_LAYOUT,
    NEW_OBJECT,
    FUNCTIONS
};

const struct seed_function seed_functions[] = {[MAIN] = {"main", SEED_APP},
                                               [ON_OPEN] = {"on_open_document", SEED_APP},
                                               [ON_SCROLL] = {"on_scroll", SEED_APP},
                                               [ON_SEARCH] = {"on_search", SEED_APP},
                                               [ON_SYNC] = {"on_sync", SEED_APP},
                                               [ON_PASTE] = {"on_paste", SEED_APP},
                                               [DECODE_STEP] = {"decode_thumbnails_step", SEED_APP},
                                               [DECODE] = {"decode_thumbnails", SEED_APP},
                                               [CACHE_PUT] = {"thumbnail_cache_put", SEED_APP},
                                               [DRAW_PAGE] = {"draw_page", SEED_APP},
                                               [LOAD_ICONS] = {"load_icons", SEED_APP},
                                               [LAYOUT_MESSAGES] = {"layout_messages", SEED_APP},
                                               [MERGE_MESSAGES] = {"merge_messages", SEED_APP},
                                               [STORE_MESSAGE] = {"message_store_add", SEED_APP},
                                               [LOAD_MESSAGES] = {"load_messages", SEED_APP},
                                               [LOAD_BOOKMARKS] = {"load_bookmarks", SEED_APP},
                                               [OPEN_PANEL] = {"open_search_panel", SEED_APP},
                                               [INDEX_HISTORY] = {"index_history", SEED_APP},
                                               [ADD_HISTORY] = {"history_index_add", SEED_APP},
                                               [PARSE_HISTORY] = {"parse_history", SEED_APP},
                                               [READ_DOCUMENT] = {"read_document", SEED_APP},
                                               [COPY_SELECTION] = {"copy_selection", SEED_APP},
                                               [PARSE_BOOKMARKS] = {"parse_bookmarks", SEED_APP},
                                               [LOAD_FONTS] = {"load_fonts", SEED_APP},
                                               [MAP_FONT] = {"map_font", SEED_APP},
                                               [NEW_PIXBUF] = {"gdk_pixbuf_new", SEED_PIXBUF},
                                               [NEW_LAYOUT] = {"pango_layout_new", SEED_PANGO},
                                               [NEW_OBJECT] = {"g_object_new", SEED_GOBJECT}};
const size_t seed_function_count = FUNCTIONS;

enum { HEAP, VM, OBJECT, PART };

enum category {
    BITMAP,
    MESSAGE,
    BOOKMARK,
    TEXT_LAYOUT,
    SEARCH_WIDGET,
    MALLOC_64,
    MALLOC_256,
    MALLOC_4K,
    VM_ANONYMOUS,
    VM_STACK,
    VM_FILE,
    VM_ALLOCATOR,
    ALLOCATORS_OWN,
    LIBRARIES,
    MIRE,
    NOT_EXPLAINED,
    CATEGORIES
};

_Static_assert(CATEGORIES == SEED_CATEGORIES, "a row for each category");

static const struct {
    const char *name;
    uint32_t kind;
    uint32_t unit_bytes, count; /* healthy, on the average; a part is one thing, of which the wire has no count */
    uint32_t resident;          /* percent */
} categories[CATEGORIES] = {[BITMAP] = {"Bitmap", OBJECT, 400 * KIB, 60, 100},
                            [MESSAGE] = {"Message", OBJECT, 64 * KIB, 120, 100},
                            [BOOKMARK] = {"Bookmark", OBJECT, 320, 12000, 100},
                            [TEXT_LAYOUT] = {"TextLayout", OBJECT, 2 * KIB, 4600, 100},
                            [SEARCH_WIDGET] = {"SearchWidget", OBJECT, 48 * KIB, 60, 100},
                            [MALLOC_64] = {"Malloc 64 B", HEAP, 64, 90000, 100},
                            [MALLOC_256] = {"Malloc 256 B", HEAP, 256, 40000, 100},
                            [MALLOC_4K] = {"Malloc 4.00 KiB", HEAP, 4 * KIB, 4000, 100},
                            [VM_ANONYMOUS] = {"VM: anonymous", VM, MIB, 24, 100},
                            [VM_STACK] = {"VM: stack", VM, 8 * MIB, 7, 1},
                            [VM_FILE] = {"VM: file", VM, MIB, 90, 4},
                            [VM_ALLOCATOR] = {"VM: allocator", VM, 0, 0, 100},
                            [ALLOCATORS_OWN] = {"Allocator's own and free", PART, 0, 0, 100},
                            [LIBRARIES] = {"Libraries", PART, 5 * MIB, 1, 100},
                            [MIRE] = {"Mire", PART, 1536 * KIB, 1, 100},
                            [NOT_EXPLAINED] = {"Not explained", PART, 3 * MIB, 1, 100}};

/* The first of a category is the one that leaks, if it does. */
const struct seed_site seed_sites[] = {{BITMAP, 70, {MAIN, ON_OPEN, DECODE_STEP, DECODE, CACHE_PUT, NEW_PIXBUF}},
                                       {BITMAP, 30, {MAIN, ON_SCROLL, DRAW_PAGE, LOAD_ICONS, NEW_PIXBUF}},
                                       {MESSAGE, 80, {MAIN, ON_SYNC, MERGE_MESSAGES, STORE_MESSAGE, NEW_OBJECT}},
                                       {MESSAGE, 20, {MAIN, ON_OPEN, LOAD_MESSAGES, NEW_OBJECT}},
                                       {BOOKMARK, 100, {MAIN, ON_OPEN, LOAD_BOOKMARKS, NEW_OBJECT}},
                                       {TEXT_LAYOUT, 100, {MAIN, ON_SCROLL, DRAW_PAGE, LAYOUT_MESSAGES, NEW_LAYOUT}},
                                       {SEARCH_WIDGET, 100, {MAIN, ON_SEARCH, OPEN_PANEL, NEW_OBJECT}},
                                       {MALLOC_64, 100, {MAIN, ON_SYNC, PARSE_BOOKMARKS}},
                                       {MALLOC_256, 75, {MAIN, ON_SEARCH, INDEX_HISTORY, ADD_HISTORY}},
                                       {MALLOC_256, 25, {MAIN, ON_OPEN, PARSE_HISTORY}},
                                       {MALLOC_4K, 60, {MAIN, ON_OPEN, READ_DOCUMENT}},
                                       {MALLOC_4K, 40, {MAIN, ON_PASTE, COPY_SELECTION}},
                                       {VM_ANONYMOUS, 100, {MAIN, ON_OPEN, LOAD_FONTS, MAP_FONT}}};
const size_t seed_site_count = COUNT(seed_sites);

static const enum category leaking[SEED_LEAKS] = {BITMAP, MESSAGE, MALLOC_256, SEARCH_WIDGET, VM_ANONYMOUS};

const char *seed_planted_leak(void)
{
    return seed_functions[CACHE_PUT].name;
}

/* A resident amount is no larger than the amount itself. */
static void put(struct seed_row *row, enum category at, uint64_t count, uint64_t bytes)
{
    row->name = categories[at].name;
    row->kind = categories[at].kind;
    row->count = row->kind == PART ? 0 : count;
    row->live_bytes = bytes;
    row->resident_bytes = bytes * categories[at].resident / 100;
}

static uint64_t blocks_of(const struct seed_held *held)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < CATEGORIES; i++)
        if (categories[i].kind == HEAP || categories[i].kind == OBJECT)
            bytes += held->rows[i].live_bytes;
    return bytes;
}

/* The rows that follow from others, and the sums. */
static void sum(struct seed_held *held)
{
    uint64_t blocks = blocks_of(held), own = blocks / OWN_OF_BLOCKS;

    put(&held->rows[ALLOCATORS_OWN], ALLOCATORS_OWN, 0, own);
    put(&held->rows[VM_ALLOCATOR], VM_ALLOCATOR, 1 + blocks / (64 * MIB), blocks + own);
    held->footprint_bytes = held->mapped_bytes = held->live_count = 0;
    for (size_t i = 0; i < CATEGORIES; i++) {
        held->footprint_bytes += i == VM_ALLOCATOR ? 0 : held->rows[i].resident_bytes;
        held->mapped_bytes += categories[i].kind == VM ? held->rows[i].live_bytes : 0;
        held->live_count += categories[i].kind == VM ? 0 : held->rows[i].count;
    }
    held->live_bytes = blocks;
    held->unexplained_bytes = held->rows[NOT_EXPLAINED].live_bytes;
}

static void leak_into(struct seed_held *held, uint64_t *state, enum category at, uint64_t footprint_bytes)
{
    struct seed_row *row = &held->rows[at];
    uint64_t unit = categories[at].unit_bytes;
    uint64_t beyond = footprint_bytes > held->footprint_bytes ? footprint_bytes - held->footprint_bytes : 0;

    if (categories[at].kind != VM)
        beyond -= beyond / (OWN_OF_BLOCKS + 1);
    row->leaked_count = beyond / unit;
    row->leaked_bytes = row->leaked_count * unit;
    row->grown_count = row->leaked_count * (NEVER_FEWER + seed_roll(state, 60)) / 1000;
    row->grown_bytes = row->grown_count * unit;
    put(row, at, row->count + row->leaked_count, row->live_bytes + row->leaked_bytes);
}

void seed_hold(struct seed_held *out, uint64_t *state, int leak, uint64_t footprint_bytes)
{
    *out = (struct seed_held){0};
    for (size_t i = 0; i < CATEGORIES; i++) {
        uint64_t percent = 60 + seed_roll(state, 50) + seed_roll(state, 50);
        uint64_t count = categories[i].count < 2 ? categories[i].count : categories[i].count * percent / 100;
        uint64_t bytes = count * categories[i].unit_bytes;

        put(&out->rows[i], (enum category)i, count, count == 1 ? bytes * percent / 100 : bytes);
    }
    sum(out);
    if (leak == SEED_NO_LEAK)
        return;
    leak_into(out, state, leaking[leak], footprint_bytes);
    sum(out);
}
