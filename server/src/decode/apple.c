/*
 * apple.c - lenient looks into a document, and the modules of a process by address.
 */
#include "decode/apple.h"

#include "base/id.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t look_one(const struct json *json, uint32_t at, const char *name)
{
    return at && json_kind(json, at) == MIRE_JSON_OBJECT ? json_member(json, at, name) : 0;
}

uint32_t look_root(const struct json *json, const char *name)
{
    return json_kind(json, 0) == MIRE_JSON_OBJECT ? json_member(json, 0, name) : 0;
}

uint32_t look(const struct json *json, uint32_t at, const char *first, const char *second, const char *third)
{
    at = look_one(json, at, first);
    if (at && second)
        at = look_one(json, at, second);
    return at && third ? look_one(json, at, third) : at;
}

/* Digits with 0x or without, to the end. */
static struct fact number_in(const struct json *json, uint32_t at)
{
    char text[32];
    char *end;
    if (json_size(json, at) >= sizeof text)
        return (struct fact){0};
    text[json_text(text, json, at)] = '\0';
    bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
    if (!(hex ? text[2] : text[0]))
        return (struct fact){0};
    const char *digits = hex ? text + 2 : text + (text[0] == '-');
    if (digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
        return (struct fact){0};
    uint64_t value = strtoull(digits, &end, hex ? 16 : 10);
    return (struct fact){text[0] == '-' ? 0 - value : value, end != digits};
}

struct fact look_number(const struct json *json, uint32_t at)
{
    uint64_t value;
    int64_t negative;
    if (!at)
        return (struct fact){0};
    if (json_kind(json, at) == MIRE_JSON_STRING)
        return number_in(json, at);
    if (json_u64(&value, json, at))
        return (struct fact){value, true};
    if (json_i64(&negative, json, at))
        return (struct fact){(uint64_t)negative, true};
    double real = json_double(json, at);
    if (real >= 0 && real < 1.8e19)
        return (struct fact){(uint64_t)real, true};
    return (struct fact){0};
}

bool look_flag(const struct json *json, uint32_t at)
{
    return at && json_kind(json, at) == MIRE_JSON_TRUE;
}

uint32_t look_count(const struct json *json, uint32_t at)
{
    return at && json_kind(json, at) == MIRE_JSON_ARRAY ? json_size(json, at) : 0;
}

const char *look_text(struct build *b, const struct json *json, uint32_t at, const char *name)
{
    return build_string(b, json, look_one(json, at, name));
}

const char *look_long(struct build *b, const struct json *json, uint32_t at)
{
    if (!at || json_kind(json, at) != MIRE_JSON_STRING)
        return "";
    char *text = arena_alloc(b->arena, (size_t)json_size(json, at) + 1);
    b->failed |= !text;
    if (text)
        json_text(text, json, at);
    return text ? text : "";
}

bool look_is(const struct json *json, uint32_t at, const char *text)
{
    return at && json_kind(json, at) == MIRE_JSON_STRING && json_is(json, at, text);
}

/* ---- modules ---- */

bool modules_begin(struct apple_modules *m, struct build *b, const struct json *json, size_t count)
{
    *m = (struct apple_modules){.b = b, .json = json, .program = "", .apple = true, .room = count};
    m->rows = arena_array(b->arena, count, sizeof *m->rows);
    b->failed |= !m->rows;
    return m->rows != NULL;
}

void modules_add(struct apple_modules *m, const struct apple_module *module)
{
    if (m->count < m->room) {
        m->rows[m->count] = *module;
        m->rows[m->count++].image = MIRE_MODULE_NEW;
        m->sorted = false;
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct apple_module *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

struct apple_module *modules_find(struct apple_modules *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    if (!m->sorted && m->count)
        qsort(m->rows, m->count, sizeof *m->rows, by_begin);
    m->sorted = true;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->rows[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct apple_module *found = low ? &m->rows[low - 1] : NULL;
    return found && address - found->begin < found->size ? found : NULL;
}

/* Below the folder of the program's bundle, "…/X.app/": the app's; below Apple's own folders: the system's. */
static enum image_tie tie_of(const struct apple_modules *m, const char *name)
{
    const char *slash = strrchr(m->program, '/');
    const char *bundle = strstr(m->program, ".app/");
    size_t folder = slash ? (size_t)(slash - m->program) + 1 : 0;
    if (bundle)
        folder = (size_t)(bundle - m->program) + 5;
    if (folder > 1 && (bundle || !m->apple) && !strncmp(name, m->program, folder))
        return MIRE_TIE_SAME;
    /* /private/var and /var are one folder */
    if (bundle && !strncmp(name, "/private", 8) && !strncmp(name + 8, m->program, folder))
        return MIRE_TIE_SAME;
    if (bundle && !strncmp(m->program, "/private", 8) && !strncmp(name, m->program + 8, folder - 8))
        return MIRE_TIE_SAME;
    bool system = !strncmp(name, "/System/", 8) || !strncmp(name, "/usr/lib/", 9);
    return m->apple && system ? MIRE_TIE_OTHER : MIRE_TIE_UNKNOWN;
}

int32_t modules_image(struct apple_modules *m, struct apple_module *module)
{
    if (module->image != MIRE_MODULE_NEW)
        return module->image;
    if (!module->name)
        module->name = build_string(m->b, m->json, module->name_at);
    const char *simulated = strstr(module->name, "/RuntimeRoot/"); /* a simulator's copy of the system */
    if (simulated)
        module->name = simulated + strlen("/RuntimeRoot");
    struct report_image image = {.name = module->name,
                                 .id_len = module->id_len,
                                 .arch = module->arch ? module->arch : "",
                                 .load = module->vmaddr.known ? module->begin - module->vmaddr.value : module->begin,
                                 .base = module->vmaddr.value,
                                 .from_start = !module->vmaddr.known,
                                 .size = {module->size, module->size != 0},
                                 .tie = module->tie ? module->tie : tie_of(m, module->name)};
    memcpy(image.id, module->id, sizeof image.id);
    return module->image = build_image(m->b, &image);
}

uint32_t modules_frame(struct apple_modules *m, uint64_t address, bool caller, const struct report_names *names)
{
    if (caller && address)
        address--;
    struct apple_module *module = modules_find(m, address);
    int32_t image = module ? modules_image(m, module) : -1;
    uint64_t load = image < 0 ? 0 : module->begin - module->vmaddr.value; /* of one that is unknown 0 */
    const struct report_frame frame = {.image = image,
                                       .found = caller ? MIRE_FOUND_FRAME_POINTER : MIRE_FOUND_PC,
                                       .offset = address - load,
                                       .names = names};
    return build_frame(m->b, &frame);
}

uint8_t read_id(uint8_t out[MIRE_BUILD_ID_MAX], const char *text)
{
    char digits[2 * MIRE_BUILD_ID_MAX + 1];
    size_t len = 0;
    for (; *text; text++) {
        if (*text == '-')
            continue;
        if (len == sizeof digits - 1)
            return 0;
        digits[len++] = *text;
    }
    digits[len] = '\0';
    return len && len % 2 == 0 && hex_parse(out, digits, len / 2) ? (uint8_t)(len / 2) : 0;
}

void install_of(uint8_t out[16], const char *text)
{
    memset(out, 0, 16);
    if (text[0])
        hash_blake2b(out, 16, text, strlen(text));
}
