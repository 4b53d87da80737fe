/*
 * document.c - the parts common to all kinds of reports, and the report of an event without the section "event".
 */
#include "report/document.h"

#include "base/alloc.h"

#include <string.h>

#define TEXT(wire, key, field) mire__wire_text(wire, key, field, sizeof(field))

static void write_app(struct wire *wire, const struct blackbox_facts *facts)
{
    mire__wire_object(wire, MIRE_NAME_APP);
    TEXT(wire, MIRE_NAME_NAME, facts->app_name);
    TEXT(wire, MIRE_NAME_VERSION, facts->app_version);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_BUILD, facts->app_build);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_CHANNEL, facts->app_channel);
    mire__wire_end(wire);
}

static void write_install(struct wire *wire, const char *install)
{
    static const char none[] = "00000000000000000000000000000000";
    bool whole = strspn(install, "0123456789abcdef") == MIRE_WIRE_INSTALL_LENGTH;

    mire__wire_text(wire, MIRE_NAME_INSTALL, whole ? install : none, MIRE_WIRE_INSTALL_LENGTH);
}

static void write_device(struct wire *wire, const struct blackbox_facts *facts)
{
    char install[sizeof(facts->install) + 1] = "", class[MIRE_REPORT_CLASS_BYTES];

    memcpy(install, facts->install, sizeof(facts->install));
    mire__report_class(class, facts->memory_bytes);
    mire__wire_object(wire, MIRE_NAME_DEVICE);
    write_install(wire, install);
    TEXT(wire, MIRE_NAME_OS, facts->os);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_OS_VERSION, facts->os_version);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_MODEL, facts->model);
    if (facts->device_class[0])
        TEXT(wire, MIRE_NAME_CLASS, facts->device_class);
    else
        MIRE_TEXT_IF_ANY(wire, MIRE_NAME_CLASS, class);
    TEXT(wire, MIRE_NAME_ARCH, facts->arch);
    mire__wire_u64(wire, MIRE_NAME_CPU_COUNT, facts->cpu_count);
    mire__wire_u64(wire, MIRE_NAME_MEMORY_BYTES, facts->memory_bytes);
    mire__wire_end(wire);
}

static void write_sdk(struct wire *wire)
{
    mire__wire_object(wire, MIRE_NAME_SDK);
    mire__wire_text(wire, MIRE_NAME_NAME, "libmire", SIZE_MAX);
    mire__wire_text(wire, MIRE_NAME_VERSION, MIRE_VERSION, SIZE_MAX);
    mire__wire_end(wire);
}

/* A monitor that is off has no share. */
static void write_sampling(struct wire *wire, const struct blackbox_facts *facts)
{
    mire__wire_object(wire, MIRE_NAME_SAMPLING);
    for (int i = 0; i < MIRE_PLUGINS; i++) {
        uint32_t ppm = atomic_load_explicit(&facts->sampling_ppm[i], memory_order_relaxed);
        if (ppm > 0)
            mire__wire_ppm(wire, mire__plugin_name(i), (uint32_t)at_most(ppm, MIRE_WIRE_PPM_MAX));
    }
    mire__wire_end(wire);
}

static void write_process(struct wire *wire, const struct blackbox_facts *facts, const struct process_use *use)
{
    mire__wire_object(wire, MIRE_NAME_PROCESS);
    mire__wire_u64(wire, MIRE_NAME_PID, facts->pid);
    TEXT(wire, MIRE_NAME_NAME, facts->process_name);
    MIRE_TEXT_IF_ANY(wire, MIRE_NAME_PATH, facts->exe_path);
    mire__wire_u64(wire, MIRE_NAME_START_WALL_MS, facts->start_wall_ms);
    mire__wire_u64(wire, MIRE_NAME_START_NS, facts->start_mono_ns);
    if (use) {
        mire__wire_u64(wire, MIRE_NAME_THREAD_COUNT, use->thread_count);
        mire__wire_u64(wire, MIRE_NAME_CPU_USER_MS, use->cpu_user_ms);
        mire__wire_u64(wire, MIRE_NAME_CPU_SYSTEM_MS, use->cpu_system_ms);
        mire__wire_u64(wire, MIRE_NAME_RSS_BYTES, use->rss_bytes);
    }
    mire__wire_end(wire);
}

void mire__document_head(struct wire *wire, const char *id, const char *kind, const struct blackbox_facts *facts,
                         const struct process_use *use)
{
    mire__wire_object(wire, NULL);
    mire__wire_u64(wire, MIRE_NAME_MIRE, MIRE_WIRE_VERSION);
    mire__wire_text(wire, MIRE_NAME_ID, id, SIZE_MAX);
    mire__wire_text(wire, MIRE_NAME_KIND, kind, SIZE_MAX);
    write_app(wire, facts);
    write_device(wire, facts);
    write_sdk(wire);
    write_sampling(wire, facts);
    write_process(wire, facts, use);
}

void mire__document_image(struct wire *wire, const struct document_image *image, const char *arch)
{
    bool known = image->id_size >= MIRE_WIRE_BUILD_ID_MIN && image->id_size <= MIRE_WIRE_BUILD_ID_MAX;

    mire__wire_object(wire, NULL);
    mire__wire_text(wire, MIRE_NAME_NAME, image->path, image->path_size);
    if (known)
        mire__wire_hex(wire, MIRE_NAME_ID, image->id, image->id_size);
    if (arch[0])
        mire__wire_text(wire, MIRE_NAME_ARCH, arch, MIRE_FACT_BYTES);
    mire__wire_u64(wire, MIRE_NAME_LOAD, image->load);
    if (known && image->base != 0)
        mire__wire_u64(wire, MIRE_NAME_BASE, image->base);
    mire__wire_u64(wire, MIRE_NAME_SIZE, image->size);
    if (image->tie != MIRE_PACKAGE_UNKNOWN)
        mire__wire_bool(wire, MIRE_NAME_OWN, image->tie == MIRE_PACKAGE_SAME);
    mire__wire_end(wire);
}

void mire__document_script_images(struct wire *wire, const struct script_rows *rows)
{
    static const char *const names[] = {
        [MIRE_ROWS_PYTHON] = "python", [MIRE_ROWS_PERF] = "perf", [MIRE_ROWS_JAVA] = "java"};

    for (int32_t i = 0; i < rows->image_count; i++) {
        mire__wire_object(wire, NULL);
        mire__wire_text(wire, MIRE_NAME_NAME, names[rows->image_of[i]], SIZE_MAX);
        mire__wire_u64(wire, MIRE_NAME_LOAD, 0);
        if (rows->image_of[i] == MIRE_ROWS_JAVA)
            mire__wire_bool(wire, MIRE_NAME_JAVA, true);
        else
            mire__wire_text(wire, MIRE_NAME_SCRIPT, names[rows->image_of[i]], SIZE_MAX);
        mire__wire_end(wire);
    }
}

static void write_images(struct wire *wire, const struct draft *draft)
{
    const char **paths = mire__calloc(draft->image_count + 1, sizeof(*paths));
    enum package_tie *ties;

    for (uint32_t i = 0; paths && i < draft->image_count; i++)
        paths[i] = mire__blackbox_image_path(draft->box, draft->images[i]);
    ties = paths ? mire__packages_ties(draft->box->facts.exe_path, paths, draft->image_count) : NULL;
    mire__wire_array(wire, MIRE_NAME_IMAGES);
    for (uint32_t i = 0; i < draft->image_count; i++) {
        const struct image *image = &draft->box->images[draft->images[i]];
        const struct document_image row = {.path = mire__blackbox_image_path(draft->box, draft->images[i]),
                                           .path_size = MIRE_IMAGE_PATHS_BYTES,
                                           .id = image->id,
                                           .id_size = image->id_size,
                                           .base = image->base,
                                           .load = image->load,
                                           .size = image->end - image->start,
                                           .tie = ties ? ties[i] : MIRE_PACKAGE_UNKNOWN};

        mire__document_image(wire, &row, draft->box->facts.arch);
    }
    mire__document_script_images(wire, &draft->scripts);
    mire__wire_end(wire);
    mire__free(ties);
    mire__free(paths);
}

void mire__document_script(struct wire *wire, const struct script_rows *rows)
{
    if (rows->count == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_SCRIPT);
    mire__wire_array(wire, MIRE_NAME_TEXTS);
    for (uint32_t i = 0; i < rows->text_count; i++)
        mire__wire_text(wire, NULL, rows->texts[i], MIRE_PERF_NAME_MAX);
    mire__wire_end(wire);
    mire__wire_i32_column(wire, MIRE_NAME_FUNCTION, rows->function, rows->count);
    mire__wire_i32_column(wire, MIRE_NAME_FILE, rows->file, rows->count);
    mire__wire_i32_column(wire, MIRE_NAME_LINE, rows->line, rows->count);
    mire__wire_end(wire);
}

static bool knows_functions(const struct trie *trie)
{
    for (uint32_t i = 0; i < trie->frame_count; i++) {
        if (trie->frame_into[i] != 0)
            return true;
    }
    return false;
}

void mire__document_trie(struct wire *wire, const struct trie *trie, bool found)
{
    mire__wire_object(wire, MIRE_NAME_FRAMES);
    mire__wire_i32_column(wire, MIRE_NAME_IMAGE, trie->frame_image, trie->frame_count);
    mire__wire_u64_column(wire, MIRE_NAME_OFFSET, trie->frame_offset, trie->frame_count);
    if (found)
        mire__wire_u8_column(wire, MIRE_NAME_FOUND, trie->frame_found, trie->frame_count);
    if (found && knows_functions(trie))
        mire__wire_u32_column(wire, MIRE_NAME_INTO, trie->frame_into, trie->frame_count);
    mire__wire_end(wire);
    mire__wire_object(wire, MIRE_NAME_NODES);
    mire__wire_u32_column(wire, MIRE_NAME_UP, trie->node_up, trie->node_count);
    mire__wire_u32_column(wire, MIRE_NAME_FRAME, trie->node_frame, trie->node_count);
    mire__wire_end(wire);
}

static void write_cost(struct wire *wire, const struct capture_cost *cost)
{
    mire__wire_object(wire, MIRE_NAME_COST);
    mire__wire_u64(wire, MIRE_NAME_SAMPLES, at_most(cost->samples, UINT32_MAX));
    mire__wire_u64(wire, MIRE_NAME_STOPPED_MAX_NS, cost->stopped_max_ns);
    mire__wire_u64(wire, MIRE_NAME_STOPPED_SUM_NS, cost->stopped_sum_ns);
    mire__wire_u64(wire, MIRE_NAME_UNWIND_SUM_NS, cost->unwind_sum_ns);
    mire__wire_u64(wire, MIRE_NAME_WATCH_CPU_US, cost->watch_cpu_ns / 1000);
    mire__wire_u64(wire, MIRE_NAME_WAKEUPS, cost->wakeups);
    mire__wire_u64(wire, MIRE_NAME_STORED_BYTES, cost->stored_bytes);
    mire__wire_u64(wire, MIRE_NAME_PERIOD_RAISED, at_most(cost->period_raised, UINT32_MAX));
    mire__wire_end(wire);
}

/* Omitted if it is empty. */
static void write_turns(struct wire *wire, const struct report_attached *attached)
{
    uint64_t from_ms[MIRE_MICRO_BUCKETS], count[MIRE_MICRO_BUCKETS], sum = 0;

    for (uint32_t i = 0; i < MIRE_MICRO_BUCKETS; i++) {
        from_ms[i] = (MIRE_MICRO_NS / MIRE_NS_PER_MS) << i;
        count[i] = attached ? at_most(attached->micro[i], UINT32_MAX) : 0;
        sum += count[i];
    }
    if (sum == 0)
        return;
    mire__wire_object(wire, MIRE_NAME_TURNS);
    mire__wire_u64_column(wire, MIRE_NAME_FROM_MS, from_ms, MIRE_MICRO_BUCKETS);
    mire__wire_u64_column(wire, MIRE_NAME_COUNT, count, MIRE_MICRO_BUCKETS);
    mire__wire_end(wire);
}

void mire__document_drops(struct wire *wire, const struct report_attached *attached)
{
    mire__wire_object(wire, MIRE_NAME_DROPS);
    for (int i = 0; attached && i < MIRE_DROP_REASONS; i++)
        if (attached->drops[i] > 0)
            mire__wire_u64(wire, mire__store_reason_name(i), attached->drops[i]);
    mire__wire_end(wire);
}

void mire__document_write(struct wire *wire, const struct draft *draft)
{
    const struct blackbox_facts *facts = &draft->box->facts;

    mire__document_head(wire, draft->id, MIRE_NAME_EVENT, facts, &draft->event.process);
    mire__document_context(wire, &draft->box->context, facts);
    write_images(wire, draft);
    mire__document_java(wire, &draft->scripts);
    mire__document_script(wire, &draft->scripts);
    mire__document_trie(wire, &draft->trie, true);
    mire__document_event(wire, draft);
    mire__document_threads(wire, draft);
    mire__document_exit(wire, draft->attached ? draft->attached->end : NULL);
    write_cost(wire, &draft->event.cost);
    write_turns(wire, draft->attached);
    mire__document_drops(wire, draft->attached);
    if (draft->attached && draft->attached->note) {
        mire__wire_array(wire, MIRE_NAME_NOTES);
        mire__wire_text(wire, NULL, draft->attached->note, SIZE_MAX);
        mire__wire_end(wire);
    }
    if (draft->attached && draft->attached->trace)
        mire__wire_hex(wire, MIRE_NAME_TRACE, draft->attached->trace, draft->attached->trace_size);
    mire__wire_end(wire);
}
