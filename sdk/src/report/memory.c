/*
 * memory.c - see memory.h.
 *
 * The report of a dead run is sealed again if a process was killed between sealing it and moving the file. The id is
 * made from the run's name and the time of its last sign of life, so both reports have the same id.
 */
#include "report/memory.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "report/memory_draft.h"
#include "report/parts.h"
#include "report/text.h"
#include "store/tables.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_document(struct wire *wire, const void *draft)
{
    mire__memory_document_write(wire, draft);
}

enum mire_err mire__memory_json(char **text_out, size_t *size_out, const struct heap_reader *reader,
                                const struct memory_said *said)
{
    struct memory_draft *draft = mire__malloc(sizeof(*draft));
    enum mire_err err;

    *text_out = NULL;
    *size_out = 0;
    if (!draft)
        return MIRE_E_MEMORY;
    err = mire__memory_draft_init(draft, reader, said);
    if (err == MIRE_OK)
        err = mire__text_write(text_out, size_out, write_document, draft);
    if (err == MIRE_OK && said->extra)
        mire__memory_draft_keep(said->extra, draft);
    mire__memory_draft_fini(draft);
    mire__free(draft);
    return err;
}

static enum store_value value_of(const char *trigger)
{
    if (strcmp(trigger, "foom") == 0)
        return MIRE_VALUE_DEATH;
    return strcmp(trigger, "baseline") == 0 ? MIRE_VALUE_BASELINE : MIRE_VALUE_CAPTURE;
}

static enum mire_err build_and_put(struct store *store, const struct heap_reader *reader,
                                   const struct memory_said *said, uint64_t now_ms)
{
    void *body = NULL;
    size_t size = 0;
    char *text;
    enum mire_err err = mire__memory_json(&text, &size, reader, said);

    if (err == MIRE_E_FULL)
        mire__store_count_drop(store, MIRE_DROP_BIG);
    if (err == MIRE_OK)
        err = mire__text_pack(&body, &size, text, size);
    mire__free(text);
    const struct store_report sealed = {
        .id = said->id, .body = body, .size = size, .value = value_of(said->trigger), .losses = said->attached->drops};
    if (err == MIRE_OK)
        err = mire__store_put(store, &sealed, now_ms);
    mire__free(body);
    return err;
}

enum mire_err mire__memory_seal(struct store *store, const struct heap_reader *reader, const struct memory_said *said,
                                uint64_t now_ms)
{
    struct report_attached attached = {0};
    struct memory_said saying = *said;
    enum mire_err err;

    mire__store_drops(attached.drops, store);
    saying.attached = &attached;
    err = build_and_put(store, reader, &saying, now_ms);
    if (err == MIRE_E_STATE) { /* another report has the counts of losses */
        attached = (struct report_attached){0};
        err = build_and_put(store, reader, &saying, now_ms);
    }
    return err;
}

enum mire_err mire__memory_snapshot(const struct heap_reader *reader, const struct memory_said *said)
{
    struct memory_draft *draft = mire__malloc(sizeof(*draft));
    struct memory_said saying = *said;
    enum mire_err err = MIRE_E_MEMORY;

    if (!draft)
        return err;
    saying.caps = (struct memory_caps){.stacks = 0};
    err = mire__memory_draft_init(draft, reader, &saying);
    if (err == MIRE_OK)
        mire__memory_draft_keep(said->extra, draft);
    mire__memory_draft_fini(draft);
    mire__free(draft);
    return err;
}

struct residency_count {
    struct residency *residency;
    const struct memory_said *said;
    struct pieces pieces; /* of said->areas */
};

static bool look_at(void *context, const struct heap_live *live)
{
    const struct residency_count *count = context;
    struct residency_row *row;

    if (live->category < MIRE_CATEGORY_KINDS || live->category >= MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS)
        return true;
    row = &count->residency->kinds[live->category - MIRE_CATEGORY_KINDS];
    row->mapped_bytes += live->size;
    if (!count->said->areas)
        row->resident_bytes += mire__memory_resident(count->said, live);
    return true;
}

static bool count_block(void *context, const struct heap_live *live)
{
    struct residency_count *count = context;
    uint64_t bytes = (uint64_t)((double)live->size / live->chance);

    mire__pieces_add_block(&count->pieces, live);
    count->residency->block_bytes += bytes;
    return true;
}

/* Count the blocks by piece. Returns the bytes of blocks in no piece. */
static uint64_t count_blocks(struct residency_count *count, const struct heap_reader *reader)
{
    struct heap_facts facts;
    uint64_t large;

    mire__read_facts(&facts, reader);
    count->residency->used_bytes = facts.used_bytes;
    if (facts.mode == MIRE_HEAP_SAMPLED) {
        mire__read_blocks(reader, count_block, count);
        return 0;
    }
    count->residency->block_bytes = mire__read_live_bytes(&large, reader, MIRE_PART_SMALL_BYTES);
    return count->residency->block_bytes - large;
}

void mire__memory_look_at_mappings(const struct heap_reader *reader, const struct memory_said *said)
{
    struct residency residency = {.taken_ns = said->taken_ns};
    struct residency_count count = {.residency = &residency, .said = said};

    if (said->areas && mire__pieces_make(&count.pieces, said->areas, reader) == MIRE_OK) {
        uint64_t small = count_blocks(&count, reader);

        mire__parts_note(&residency, &count.pieces, small);
    }
    mire__pieces_fini(&count.pieces);
    mire__read_mappings(reader, look_at, &count);
    mire__extra_set_residency(said->extra, &residency);
}

bool mire__memory_id(char out[MIRE_STORE_ID_LENGTH + 1], const uint8_t id[16])
{
    return mire__text_id(out, id);
}

/* ---- dead runs ---- */

struct mapped {
    void *bytes;
    size_t size;
};

/* Were the tables begun? Otherwise the first page may be a hole, and reading it raises SIGBUS if memory is full. */
static bool has_begun(int fd)
{
    uint64_t magic;

    return pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == MIRE_HEAP_MAGIC;
}

/* Returns MIRE_OK, MIRE_E_FORMAT (no memory tables), MIRE_E_STORE, MIRE_E_MEMORY. */
static enum mire_err map_file(struct mapped *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    enum mire_err err = MIRE_E_STORE;
    struct stat info;

    if (fd < 0)
        return err;
    if (fstat(fd, &info) == 0) {
        err = S_ISREG(info.st_mode) && info.st_size <= MIRE_STORE_TABLES_MAX && has_begun(fd) ? MIRE_OK : MIRE_E_FORMAT;
        out->size = (size_t)info.st_size;
    }
    if (err == MIRE_OK) {
        out->bytes = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (out->bytes == MAP_FAILED)
            err = MIRE_E_MEMORY;
    }
    close(fd);
    return err;
}

/* Release the pages: another read gets them from the file. */
static void let_go(void *context)
{
    const struct mapped *file = context;

    madvise(file->bytes, file->size, MADV_DONTNEED);
}

/* run: 32 hex digits */
static void make_id(char out[MIRE_STORE_ID_LENGTH + 1], const char *run, uint64_t wall_ms)
{
    uint8_t id[16] = {0};
    unsigned byte;

    for (size_t i = 0; i < sizeof(id) && strlen(run) >= 2 * i + 2 && sscanf(run + 2 * i, "%2x", &byte) == 1; i++)
        id[i] = (uint8_t)byte;
    for (int i = 0; i < 6; i++)
        id[i] = (uint8_t)(wall_ms >> (40 - 8 * i));
    id[6] = 0x70 | (id[6] & 0x0f);
    id[8] = 0x80 | (id[8] & 0x3f);
    mire__text_id(out, id);
}

/* Time of the last look at the tables, or at the process. */
static uint64_t taken_ns(const struct heap_facts *facts, const struct blackbox_facts *run, const struct exit_end *end)
{
    uint64_t seen_ns = end->trail_rows > 0 ? end->trail[end->trail_rows - 1].boot_ns : 0;

    if (seen_ns > run->start_boot_ns)
        seen_ns = run->start_mono_ns + (seen_ns - run->start_boot_ns);
    return facts->seen_ns > seen_ns ? facts->seen_ns : seen_ns;
}

/* Returns as mire__memory_seal; MIRE_E_FORMAT: the app of the tables is unknown. */
static enum mire_err seal_foom(struct store *store, const char *run_name, const struct heap_reader *reader,
                               struct mapped *file, const struct blackbox *box, const struct exit_end *end,
                               uint64_t now_ms)
{
    struct memory_said said = {.trigger = "foom",
                               .taken_wall_ms = end->seen_wall_ms,
                               .ground = end->ground,
                               .trail = end->trail,
                               .trail_rows = end->trail_rows,
                               .footprint_peak_bytes = end->footprint_peak_bytes,
                               .end = end,
                               .on_read = let_go,
                               .context = file,
                               .caps = MIRE_MEMORY_CAPS_INIT};
    struct blackbox_facts run;
    struct heap_facts facts;
    size_t size;
    const void *extra = mire__read_extra(&size, reader);

    if (box)
        run = box->facts;
    else if (!mire__extra_facts(&run, extra, size))
        return MIRE_E_FORMAT;
    mire__read_facts(&facts, reader);
    said.facts = &run;
    said.app = box ? &box->context : NULL;
    said.taken_ns = taken_ns(&facts, &run, end);
    make_id(said.id, run_name, end->seen_wall_ms);
    return mire__memory_seal(store, reader, &said, now_ms);
}

/* Returns as mire__report_memory_of_run; MIRE_E_FORMAT: the file has no valid tables. */
static enum mire_err look_into(bool *sealed_out, struct store *store, const char *run, struct mapped *file,
                               const struct blackbox *box, const struct exit_end *end, uint64_t now_ms)
{
    struct heap_reader *reader = mire__malloc(sizeof(*reader));
    enum mire_err err = MIRE_E_MEMORY;

    if (!reader)
        return err;
    err = mire__read_open(reader, file->bytes, file->size) == MIRE_READ_OK ? MIRE_OK : MIRE_E_FORMAT;
    if (err == MIRE_OK && end->verdict.verdict == MIRE_EXIT_FOOM) {
        err = seal_foom(store, run, reader, file, box, end, now_ms);
        *sealed_out = err == MIRE_OK;
    }
    mire__free(reader);
    return err == MIRE_E_FULL ? MIRE_OK : err;
}

enum mire_err mire__report_memory_of_run(bool *sealed_out, struct store *store, const char *run,
                                         const struct blackbox *box, const struct exit_end *end, uint64_t now_ms)
{
    char path[MIRE_STORE_PATH_MAX];
    struct mapped file = {0};
    enum mire_err err;

    *sealed_out = false;
    if (!mire__store_tables_path(path, store, run)) {
        mire__store_tables_drop(store, run); /* the link's file was in memory, and the machine restarted */
        return MIRE_OK;
    }
    err = map_file(&file, path);
    if (err == MIRE_OK) {
        err = look_into(sealed_out, store, run, &file, box, end, now_ms);
        munmap(file.bytes, file.size);
    }
    if (err == MIRE_E_FORMAT)
        mire__store_count_drop(store, MIRE_DROP_BROKEN);
    if (err == MIRE_E_FORMAT ||
        (err == MIRE_OK && mire__store_keep(store, run, MIRE_MEMORY_RUNS, MIRE_MEMORY_KEPT_BYTES) != MIRE_OK)) {
        mire__store_tables_drop(store, run);
        err = MIRE_OK;
    }
    return err;
}
