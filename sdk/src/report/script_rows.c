/* script_rows.c - see script_rows.h. */
#include "report/script_rows.h"

#include "base/alloc.h"

#include <string.h>

/* All addresses in one piece of code are one place: that of the first name with the same begin. */
struct trie_frame mire__script_rows_place(const struct perf_map *map, const struct trie_frame *place)
{
    const struct perf_name *name = mire__perf_map_find(map, place->offset);
    struct trie_frame out = *place;

    if (!name)
        return out;
    while (name > map->names && name[-1].start == name->start)
        name--;
    out.image = MIRE_ROWS_IMAGE - MIRE_ROWS_PERF;
    out.offset = (uint64_t)(name - map->names);
    return out;
}

static bool is_script(const struct trie *trie, uint32_t frame)
{
    return trie->frame_image[frame] > MIRE_ROWS_IMAGE - MIRE_ROWS_KINDS;
}

static enum rows_of kind_of(const struct trie *trie, uint32_t frame)
{
    return (enum rows_of)(MIRE_ROWS_IMAGE - trie->frame_image[frame]);
}

static enum mire_err reserve(struct script_rows *rows, uint32_t count)
{
    rows->function = mire__calloc(count, sizeof(*rows->function));
    rows->file = mire__calloc(count, sizeof(*rows->file));
    rows->line = mire__calloc(count, sizeof(*rows->line));
    rows->texts = mire__calloc(2 * (size_t)count, sizeof(*rows->texts));
    rows->java = mire__calloc(count, sizeof(*rows->java));
    return rows->function && rows->file && rows->line && rows->texts && rows->java ? MIRE_OK : MIRE_E_MEMORY;
}

/* Number of a text, which is the same one if it lies in the same place. */
static int32_t text_of(struct script_rows *rows, const char *text)
{
    for (uint32_t i = rows->text_count; i-- > 0;)
        if (rows->texts[i] == text)
            return (int32_t)i;
    rows->texts[rows->text_count++] = text;
    return (int32_t)rows->text_count - 1;
}

static void add_python(struct script_rows *rows, const struct blackbox *box, uint64_t frame)
{
    const char *name = "?", *file = "";

    mire__blackbox_script(&name, &file, box, mire__script_number(frame));
    rows->function[rows->count] = text_of(rows, name[0] ? name : "?");
    rows->file[rows->count] = file[0] ? text_of(rows, file) : -1;
    rows->line[rows->count++] = (int32_t)mire__script_line(frame);
}

static void add_java(struct script_rows *rows, const struct blackbox *box, uint64_t frame)
{
    struct java_row *row = &rows->java[rows->java_count++];

    *row = (struct java_row){.name = "?.?", .file = "", .line = mire__script_line(frame)};
    mire__blackbox_script(&row->name, &row->file, box, mire__script_number(frame));
}

static void add_perf(struct script_rows *rows, const struct perf_map *map, uint64_t number)
{
    rows->function[rows->count] = text_of(rows, map->names[number].name);
    rows->file[rows->count++] = -1;
}

enum mire_err mire__script_rows_init(struct script_rows *rows, struct trie *trie, const struct blackbox *box,
                                     const struct perf_map *map, uint32_t image_count)
{
    int32_t image[MIRE_ROWS_KINDS];
    uint32_t count = 0;

    memset(rows, 0, sizeof(*rows));
    memset(image, 0xff, sizeof(image));
    for (uint32_t frame = 0; frame < trie->frame_count; frame++)
        count += is_script(trie, frame);
    if (count > 0 && reserve(rows, count) != MIRE_OK)
        return MIRE_E_MEMORY;
    for (uint32_t frame = 0; frame < trie->frame_count; frame++) {
        enum rows_of kind = is_script(trie, frame) ? kind_of(trie, frame) : MIRE_ROWS_KINDS;

        if (kind == MIRE_ROWS_KINDS)
            continue;
        if (image[kind] < 0) {
            image[kind] = (int32_t)image_count + rows->image_count;
            rows->image_of[rows->image_count++] = kind;
        }
        if (kind == MIRE_ROWS_PERF)
            add_perf(rows, map, trie->frame_offset[frame]);
        else if (kind == MIRE_ROWS_JAVA)
            add_java(rows, box, trie->frame_offset[frame]);
        else
            add_python(rows, box, trie->frame_offset[frame]);
        trie->frame_image[frame] = image[kind];
        trie->frame_offset[frame] = (kind == MIRE_ROWS_JAVA ? rows->java_count : rows->count) - 1;
    }
    return MIRE_OK;
}

void mire__script_rows_fini(struct script_rows *rows)
{
    mire__free(rows->function);
    mire__free(rows->file);
    mire__free(rows->line);
    mire__free(rows->texts);
    mire__free(rows->java);
    memset(rows, 0, sizeof(*rows));
}
