/*
 * bind_write.c - writes structs by the tables that read them.
 */
#include "json/bind.h"

#include "base/fact.h"

static void write_number(struct json_writer *w, const struct bind_field *field, uint64_t value)
{
    if (field->min < 0)
        json_write_i64(w, field->name, (int64_t)value);
    else
        json_write_u64(w, field->name, value);
}

static void write_fact(struct json_writer *w, const struct bind_field *field, const struct fact *fact,
                       enum bind_unknown unknown)
{
    if (fact->known)
        write_number(w, field, fact->value);
    else if (unknown == MIRE_BIND_NULL)
        json_write_null(w, field->name);
}

static void write_field(struct json_writer *w, const void *in, const struct bind_field *field,
                        enum bind_unknown unknown)
{
    const void *member = (const char *)in + field->offset;

    switch (field->want) {
    case MIRE_BIND_TEXT:
        json_write_text(w, field->name, *(const char *const *)member);
        return;
    case MIRE_BIND_BOOL:
        json_write_bool(w, field->name, *(const bool *)member);
        return;
    case MIRE_BIND_U32:
        write_number(w, field,
                     field->min < 0 ? (uint64_t)(int64_t) * (const int32_t *)member : *(const uint32_t *)member);
        return;
    case MIRE_BIND_U64:
        write_number(w, field, *(const uint64_t *)member);
        return;
    case MIRE_BIND_FACT:
        write_fact(w, field, member, unknown);
        return;
    case MIRE_BIND_OTHER:
        if (field->write)
            field->write(w, field->name, in);
        return;
    case MIRE_BIND_COLUMN:
        return;
    }
}

void bind_write(struct json_writer *w, const void *in, const struct bind_table *table, enum bind_unknown unknown)
{
    for (size_t i = 0; i < table->count; i++)
        write_field(w, in, &table->fields[i], unknown);
}

void bind_write_object(struct json_writer *w, const char *key, const void *in, const struct bind_table *table,
                       enum bind_unknown unknown)
{
    json_write_open(w, key, '{');
    bind_write(w, in, table, unknown);
    json_write_close(w, '}');
}
