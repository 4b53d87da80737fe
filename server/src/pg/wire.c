/*
 * wire.c - parameters to PostgreSQL's binary formats. Pure.
 *
 * A list is: dimensions (1), has nulls, element type, count, lower bound (1), then each element's length and bytes.
 */
#include "pg/inside.h"

#include <string.h>

#define EPOCH_US   INT64_C(946684800000000) /* 2000-01-01, PostgreSQL's zero, in microseconds since 1970 */
#define EPOCH_DAYS 10957

static const struct {
    Oid type;
    Oid list_type;
} kinds[] = {
    [MIRE_PG_NULL] = {0, 0},       [MIRE_PG_BOOL] = {16, 1000},  [MIRE_PG_INT2] = {21, 1005},
    [MIRE_PG_INT4] = {23, 1007},   [MIRE_PG_INT8] = {20, 1016},  [MIRE_PG_REAL] = {701, 1022},
    [MIRE_PG_TEXT] = {25, 1009},   [MIRE_PG_BYTES] = {17, 1001}, [MIRE_PG_UUID] = {2950, 2951},
    [MIRE_PG_TIME] = {1184, 1185}, [MIRE_PG_DAY] = {1082, 1182},
};

static void add_integer(struct text *out, uint64_t value, int bytes)
{
    unsigned char big[8];
    for (int i = 0; i < bytes; i++)
        big[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
    text_append(out, big, (size_t)bytes);
}

static int64_t shifted_time(int64_t wall_us)
{
    int64_t since_2000;
    return __builtin_sub_overflow(wall_us, EPOCH_US, &since_2000) ? INT64_MIN : since_2000;
}

static void add_number(struct text *out, enum pg_kind kind, int64_t value)
{
    switch (kind) {
    case MIRE_PG_BOOL:
        add_integer(out, (uint64_t)(value != 0), 1);
        break;
    case MIRE_PG_INT2:
        add_integer(out, (uint64_t)value, 2);
        break;
    case MIRE_PG_DAY:
        add_integer(out, (uint64_t)(value - EPOCH_DAYS), 4);
        break;
    case MIRE_PG_INT4:
        add_integer(out, (uint64_t)value, 4);
        break;
    case MIRE_PG_TIME:
        add_integer(out, (uint64_t)shifted_time(value), 8);
        break;
    default:
        add_integer(out, (uint64_t)value, 8);
        break;
    }
}

static void add_real(struct text *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_integer(out, bits, 8);
}

static void add_sized(struct text *out, const void *bytes, size_t len)
{
    add_integer(out, bytes ? (uint64_t)len : UINT64_MAX, 4);
    text_append(out, bytes, bytes ? len : 0);
}

/* PostgreSQL refuses text that is not UTF-8, and the whole report with it. So invalid bytes are replaced. */
static void add_text(struct text *out, const char *text, size_t len)
{
    struct text mended = {0};

    if (!text || text_is_valid(text, len)) {
        add_sized(out, text, len);
        return;
    }
    text_add_valid(&mended, text, len);
    add_sized(out, mended.bytes ? mended.bytes : "", mended.len);
    out->failed |= text_failed(&mended);
    text_fini(&mended);
}

static void add_item(struct text *out, const struct pg_param *param, size_t i)
{
    const struct pg_bytes *bytes;
    const char *text;

    switch (param->kind) {
    case MIRE_PG_INT2:
        add_integer(out, 2, 4);
        add_number(out, param->kind, ((const int16_t *)param->list)[i]);
        break;
    case MIRE_PG_INT4:
    case MIRE_PG_DAY:
        add_integer(out, 4, 4);
        add_number(out, param->kind, ((const int32_t *)param->list)[i]);
        break;
    case MIRE_PG_REAL:
        add_integer(out, 8, 4);
        add_real(out, ((const double *)param->list)[i]);
        break;
    case MIRE_PG_TEXT:
        text = ((const char *const *)param->list)[i];
        add_text(out, text, text ? strlen(text) : 0);
        break;
    case MIRE_PG_BYTES:
        bytes = &((const struct pg_bytes *)param->list)[i];
        add_sized(out, bytes->bytes, bytes->len);
        break;
    case MIRE_PG_UUID:
        add_sized(out, ((const struct uuid *)param->list)[i].bytes, 16);
        break;
    default:
        add_integer(out, 8, 4);
        add_number(out, param->kind, ((const int64_t *)param->list)[i]);
        break;
    }
}

static bool has_null(const struct pg_param *param)
{
    for (size_t i = 0; i < param->count; i++) {
        if (param->kind == MIRE_PG_TEXT && !((const char *const *)param->list)[i])
            return true;
        if (param->kind == MIRE_PG_BYTES && !((const struct pg_bytes *)param->list)[i].bytes)
            return true;
    }
    return false;
}

static void add_list(struct text *out, const struct pg_param *param)
{
    add_integer(out, param->count ? 1 : 0, 4);
    add_integer(out, has_null(param), 4);
    add_integer(out, kinds[param->kind].type, 4);
    if (!param->count)
        return;
    add_integer(out, param->count, 4);
    add_integer(out, 1, 4);
    for (size_t i = 0; i < param->count; i++)
        add_item(out, param, i);
}

static bool is_mended(const struct pg_param *param)
{
    return !param->is_list && param->kind == MIRE_PG_TEXT && !text_is_valid(param->bytes.bytes, param->bytes.len);
}

static bool is_borrowed(const struct pg_param *param)
{
    if (param->is_list || is_mended(param))
        return false;
    return param->kind == MIRE_PG_TEXT || param->kind == MIRE_PG_BYTES || param->kind == MIRE_PG_UUID;
}

int pg_wire_init(struct pg_wire *wire, const struct pg_param *params, size_t count)
{
    size_t starts[MIRE_PG_PARAMS_MAX];

    *wire = (struct pg_wire){.count = (int)count};
    if (count > MIRE_PG_PARAMS_MAX)
        return MIRE_FAULT_SQL;
    for (size_t i = 0; i < count; i++) {
        const struct pg_param *param = &params[i];
        wire->types[i] = param->is_list ? kinds[param->kind].list_type : kinds[param->kind].type;
        wire->formats[i] = 1;
        starts[i] = wire->scratch.len;
        if (param->is_list)
            add_list(&wire->scratch, param);
        else if (param->kind == MIRE_PG_REAL)
            add_real(&wire->scratch, param->real);
        else if (is_mended(param))
            text_add_valid(&wire->scratch, param->bytes.bytes, param->bytes.len);
        else if (param->kind != MIRE_PG_NULL && !is_borrowed(param))
            add_number(&wire->scratch, param->kind, param->integer);
        wire->lengths[i] = (int)(is_borrowed(param) ? param->bytes.len : wire->scratch.len - starts[i]);
    }

    for (size_t i = 0; i < count; i++) {
        if (is_borrowed(&params[i])) /* a value without bytes is not a null */
            wire->values[i] = params[i].bytes.bytes ? params[i].bytes.bytes : "";
        else if (params[i].kind != MIRE_PG_NULL && wire->scratch.bytes)
            wire->values[i] = wire->scratch.bytes + starts[i];
    }

    return text_failed(&wire->scratch) ? MIRE_FAULT_MEMORY : 0;
}

void pg_wire_fini(struct pg_wire *wire)
{
    text_fini(&wire->scratch);
}

/* A list with its length before it. */
static void add_list_field(struct text *out, const struct pg_param *param)
{
    struct text list = {0};

    add_list(&list, param);
    add_sized(out, list.bytes ? list.bytes : "", list.len);
    out->failed |= text_failed(&list);
    text_fini(&list);
}

void pg_wire_field(struct text *out, const struct pg_param *param)
{
    static const int sizes[] = {[MIRE_PG_BOOL] = 1, [MIRE_PG_INT2] = 2, [MIRE_PG_INT4] = 4, [MIRE_PG_INT8] = 8,
                                [MIRE_PG_TIME] = 8, [MIRE_PG_DAY] = 4,  [MIRE_PG_REAL] = 8};

    if (param->is_list) {
        add_list_field(out, param);
        return;
    }
    switch (param->kind) {
    case MIRE_PG_NULL:
        add_integer(out, UINT64_MAX, 4);
        break;
    case MIRE_PG_TEXT:
        add_text(out, param->bytes.bytes, param->bytes.len);
        break;
    case MIRE_PG_BYTES:
    case MIRE_PG_UUID: /* a value without bytes is not a null */
        add_sized(out, param->bytes.bytes ? param->bytes.bytes : "", param->bytes.len);
        break;
    case MIRE_PG_REAL:
        add_integer(out, 8, 4);
        add_real(out, param->real);
        break;
    default:
        add_integer(out, (uint64_t)sizes[param->kind], 4);
        add_number(out, param->kind, param->integer);
        break;
    }
}
