/*
 * write.c - writes the resolved-stack document: JSON, a zero, and the columns of columns.h. read.c reads it back.
 */
#include "document/document.h"
#include "document/columns.h"
#include "document/exit.h"
#include "document/facts.h"
#include "document/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 1 /* columns leave little for a higher one */

static void write_fact(struct json_writer *w, const char *key, struct fact fact)
{
    if (fact.known)
        json_write_u64(w, key, fact.value);
}

static void write_rules(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, "rules", '{');
    JSON_WRITE_LIST(w, "pack", text, doc->rule_count, doc->rules[i].pack);
    JSON_WRITE_LIST(w, "version", u64, doc->rule_count, (uint64_t)doc->rules[i].version);
    JSON_WRITE_LIST(w, "line", u64, doc->rule_count, doc->rules[i].line);
    JSON_WRITE_LIST(w, "text", text, doc->rule_count, doc->rules[i].text);
    json_write_close(w, '}');
}

static void write_hot(struct json_writer *w, const struct resolved_hot *hot)
{
    json_write_open(w, "hot", '{');
    json_write_u64(w, "node", hot->node);
    json_write_u64(w, "run", hot->run);
    json_write_u64(w, "thread", hot->thread);
    JSON_WRITE_LIST(w, "repeat", u64, hot->depth, hot->repeat[i]);
    json_write_i64(w, "caller1", hot->caller1);
    json_write_i64(w, "caller2", hot->caller2);
    json_write_close(w, '}');
}

static void write_lists(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, "threads", '[');
    for (size_t i = 0; i < doc->thread_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_u64(w, "tid", doc->threads[i].tid);
        json_write_text(w, "name", doc->threads[i].name);
        json_write_text(w, "role", doc->threads[i].role);
        write_fact(w, "cpu_ms", doc->threads[i].cpu_ms);
        json_write_u64(w, "node", doc->threads[i].node);
        json_write_text(w, "state", (const char[]){doc->threads[i].state, 0});
        json_write_i64(w, "syscall", doc->threads[i].syscall);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    json_write_open(w, "facts", '[');
    for (size_t i = 0; i < doc->fact_count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "name", doc->facts[i].name);
        json_write_text(w, "value", doc->facts[i].value);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
}

static void write_causes(struct json_writer *w, const struct resolved *doc)
{
    if (doc->lock.known)
        bind_write_object(w, "lock", &doc->lock, &facts_lock, MIRE_BIND_LEAVE_OUT);
    if (doc->cpu.known)
        bind_write_object(w, "cpu", &doc->cpu, &facts_cpu, MIRE_BIND_LEAVE_OUT);
    if (doc->disk.known)
        bind_write_object(w, "disk", &doc->disk, &facts_disk, MIRE_BIND_LEAVE_OUT);
    if (doc->frames.known)
        bind_write_object(w, "frames", &doc->frames, &facts_frames, MIRE_BIND_LEAVE_OUT);
    if (doc->suppressed.count)
        bind_write_object(w, "suppressed", &doc->suppressed, &facts_suppressed, MIRE_BIND_LEAVE_OUT);
}

static void write_verdict(struct json_writer *w, const char *key, const struct resolved_verdict *verdict)
{
    if (!verdict->known)
        return;
    json_write_open(w, key, '{');
    json_write_u64(w, "location", verdict->location);
    json_write_u64(w, "share_ppm", verdict->share_ppm);
    json_write_close(w, '}');
}

static void write_holder(struct json_writer *w, const struct resolved_holder *holder)
{
    json_write_open(w, "holder", '{');
    json_write_bool(w, "itself", holder->itself);
    json_write_i64(w, "thread", holder->thread);
    json_write_i64(w, "frame", holder->frame);
    json_write_close(w, '}');
}

static void write_turns(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, "turns", '{');
    JSON_WRITE_LIST(w, "from_ms", u64, doc->bucket_count, doc->buckets[i].from_ms);
    JSON_WRITE_LIST(w, "count", u64, doc->bucket_count, doc->buckets[i].count);
    json_write_close(w, '}');
}

static void write_parts(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, "key", '[');
    for (size_t k = 0; k < doc->part_count; k++) {
        const struct resolved_part *part = &doc->parts[k];
        json_write_open(w, NULL, '{');
        json_write_text(w, "part", part->part);
        json_write_text(w, "text", part->text);
        JSON_WRITE_LIST(w, "rules", u64, part->rule_count, part->rules[i]);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void write_document(struct json_writer *w, const struct resolved *doc)
{
    json_write_open(w, NULL, '{');
    json_write_u64(w, "resolved", MIRE_RESOLVED_VERSION);
    json_write_text(w, "trigger", doc->trigger);
    json_write_text(w, "name", doc->name);
    json_write_text(w, "gate", gate_name(doc->gate));
    json_write_bool(w, "launch", doc->launch);
    json_write_bool(w, "foreground", doc->foreground);
    json_write_bool(w, "foreground_known", doc->foreground_known);
    json_write_u64(w, "threshold_ms", doc->threshold_ms);
    json_write_u64(w, "late_ms", doc->late_ms);
    json_write_u64(w, "suspended_ms", doc->suspended_ms);
    json_write_u64(w, "begin_slack_ms", doc->begin_slack_ms);
    json_write_text(w, "guess", doc->guess);
    write_causes(w, doc);
    exit_write(w, "exit", &doc->exit);
    bind_write_object(w, "thread", &doc->thread, &facts_watched, MIRE_BIND_LEAVE_OUT);
    write_rules(w, doc);
    json_write_u64(w, "period_ms", doc->period_ms);
    write_hot(w, &doc->hot);
    write_verdict(w, "blame", &doc->blame);
    write_verdict(w, "verdict", &doc->verdict);
    json_write_text(w, "why", doc->why);
    write_parts(w, doc);
    write_lists(w, doc);
    memory_document_write(w, &doc->memory);
    write_holder(w, &doc->holder);
    bind_write_object(w, "cost", &doc->cost, &facts_cost, MIRE_BIND_LEAVE_OUT);
    write_turns(w, doc);
    json_write_close(w, '}');
}

struct document_encoder {
    ZSTD_CCtx *context;
};

struct document_encoder *document_encoder_new(void)
{
    struct document_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder)
        encoder->context = ZSTD_createCCtx();
    if (encoder && encoder->context)
        return encoder;
    free(encoder);
    return NULL;
}

void document_encoder_free(struct document_encoder *encoder)
{
    if (!encoder)
        return;
    ZSTD_freeCCtx(encoder->context);
    free(encoder);
}

static size_t compress(struct document_encoder *encoder, unsigned char *bytes, size_t room, const struct json_writer *w)
{
    return encoder ? ZSTD_compressCCtx(encoder->context, bytes, room, w->text, w->len, LEVEL)
                   : ZSTD_compress(bytes, room, w->text, w->len, LEVEL);
}

int resolved_encode(unsigned char **bytes_out, size_t *len_out, const struct resolved *doc)
{
    return resolved_encode_by(NULL, bytes_out, len_out, doc);
}

int resolved_encode_by(struct document_encoder *encoder, unsigned char **bytes_out, size_t *len_out,
                       const struct resolved *doc)
{
    struct json_writer w;

    json_write_begin(&w);
    write_document(&w, doc);
    unsigned char *end = json_write_room(&w, 1); /* a zero, which JSON never has in it */
    if (end) {
        *end = 0;
        w.len++;
    }
    columns_write(&w, doc);
    unsigned char *bytes = NULL;
    size_t room = ZSTD_compressBound(w.len);
    if (!w.failed)
        bytes = malloc(room);
    size_t len = bytes ? compress(encoder, bytes, room, &w) : 0;
    free(w.text);
    if (!bytes || ZSTD_isError(len)) {
        free(bytes);
        return -1;
    }
    *bytes_out = bytes;
    *len_out = len;
    return 0;
}
