/*
 * backtrace.c - see backtrace.h. Printed by art/runtime/native_stack_dump.cc, stack.cc and debuggerd's backtrace.cpp.
 */
#include "decode/backtrace.h"

#include "wire/limits.h"

struct module_row {
    struct backtrace_module module;
    int32_t image;
};

uint8_t backtrace_build_id(uint8_t out[MIRE_BUILD_ID_MAX], const char *digits, size_t len)
{
    if (len % 2 || len / 2 > MIRE_BUILD_ID_MAX || len / 2 < MIRE_WIRE_BUILD_ID_MIN)
        return 0;
    for (size_t i = 0; i < len; i++)
        if (digit_of(digits[i]) > 15)
            return 0;
    for (size_t i = 0; i < len; i += 2)
        out[i / 2] = (uint8_t)(digit_of(digits[i]) << 4 | digit_of(digits[i + 1]));
    return (uint8_t)(len / 2);
}

static bool same_module(const struct backtrace_module *a, const struct backtrace_module *b)
{
    return a->path == b->path && a->offset == b->offset && a->id_len == b->id_len && !memcmp(a->id, b->id, a->id_len);
}

/* Does the path name no file? Then the code was made at run time. */
static bool is_anonymous(const struct line_span *path)
{
    return !path->len || *path->at == '<' || *path->at == '[' || span_is(path, "???") || span_begins(path, "anon") ||
           span_begins(path, "/memfd:jit-cache") || span_begins(path, "/dev/ashmem/dalvik-jit");
}

int32_t backtrace_image(struct backtrace_modules *modules, const struct backtrace_module *module)
{
    const struct module_row *rows = modules->rows.rows;
    const struct line_span path = {module->path, strlen(module->path)};
    if (is_anonymous(&path) && !module->id_len)
        return -1;
    if (modules->last < modules->rows.count && same_module(&rows[modules->last].module, module))
        return rows[modules->last].image;
    for (size_t i = 0; i < modules->rows.count; i++) {
        if (!same_module(&rows[i].module, module))
            continue;
        modules->last = i;
        return rows[i].image;
    }
    struct module_row *row = build_push(modules->build, &modules->rows, sizeof *row, MIRE_WIRE_IMAGES_MAX);
    if (!row)
        return -1;
    struct report_image image = {.name = module->path, .id_len = module->id_len};
    memcpy(image.id, module->id, module->id_len);
    *row = (struct module_row){*module, build_image(modules->build, &image)};
    modules->last = modules->rows.count - 1;
    return row->image;
}

/* ---- Java ---- */

/* "File.java:123", "File.java", "Native method", "Unknown Source:0". */
static void read_source(struct report_java *out, struct build *build, struct line_span source)
{
    const char *colon = span_find_last(&source, ":");
    uint64_t line = 0;
    if (colon) {
        struct line_span digits = {colon + 1, (size_t)(source.at + source.len - colon - 1)};
        if (span_number(&line, &digits, 10) && !digits.len)
            source.len = (size_t)(colon - source.at);
    }
    bool known = !span_is(&source, "Native method") && !span_is(&source, "Native Method") &&
                 !span_is(&source, "Unknown Source") && !span_is(&source, "unavailable");
    out->file = known ? build_text(build, source.at, source.len) : "";
    out->line = line <= INT32_MAX ? (uint32_t)line : 0;
}

bool backtrace_java(uint32_t *frame_out, struct build *build, struct line_span line)
{
    struct report_java place = {.number = -1};
    if (!span_take(&line, "at "))
        return false;
    span_trim(&line);
    const char *open = span_find_last(&line, "(");
    if (!open || line.at[line.len - 1] != ')')
        return false;
    struct line_span name = {line.at, (size_t)(open - line.at)};
    read_source(&place, build, (struct line_span){open + 1, (size_t)(line.at + line.len - open - 2)});
    if (name.len && name.at[name.len - 1] == '!') /* "wait!": a fast native method */
        name.len--;
    const char *dot = span_find_last(&name, ".");
    if (!dot || dot == name.at || dot + 1 == name.at + name.len)
        return false;
    place.class_name = build_text(build, name.at, (size_t)(dot - name.at));
    place.method = build_text(build, dot + 1, (size_t)(name.at + name.len - dot - 1));
    *frame_out = build_java(build, &place);
    return true;
}

/* ---- native ---- */

/* The last "(...)" with a blank before it, its brackets balanced; it is cut off. */
static bool cut_group(struct line_span *out, struct line_span *line)
{
    size_t depth = 0;
    if (!line->len || line->at[line->len - 1] != ')')
        return false;
    for (size_t at = line->len; at-- > 0;) {
        depth += line->at[at] == ')';
        depth -= line->at[at] == '(';
        if (depth)
            continue;
        if (!at || line->at[at - 1] != ' ')
            return false;
        *out = (struct line_span){line->at + at + 1, line->len - at - 2};
        line->len = at - 1;
        return true;
    }
    return false;
}

/* "art::Foo(int)+12" without what is behind the last plus. */
static void read_function(struct report_names *out, struct build *build, struct line_span group)
{
    const char *plus = span_find_last(&group, "+");
    uint64_t past;
    if (plus) {
        struct line_span digits = {plus + 1, (size_t)(group.at + group.len - plus - 1)};
        if (span_number(&past, &digits, 10) && !digits.len)
            group.len = (size_t)(plus - group.at);
    }
    if (!span_is(&group, "???"))
        out->function = build_text(build, group.at, group.len);
}

/* Takes the parts behind the path off, from the right. */
static void read_groups(struct backtrace_module *module, struct report_names *names, struct build *build,
                        struct line_span *line)
{
    struct line_span group;
    bool named = false;
    struct line_span before = *line;
    while (cut_group(&group, line)) {
        if (span_take(&group, "BuildId: ")) {
            module->id_len = backtrace_build_id(module->id, group.at, group.len);
        } else if (span_take(&group, "offset 0x")) {
            span_number(&module->offset, &group, 16);
        } else if (span_is(&group, "deleted")) {
            continue;
        } else if (!named) {
            read_function(names, build, group);
            named = true;
        } else {
            *line = before; /* the brackets are the path's own */
            break;
        }
        before = *line;
        span_trim(line);
    }
    span_trim(line);
}

bool backtrace_native(uint32_t *frame_out, struct backtrace_modules *modules, struct line_span line)
{
    struct backtrace_module module = {.path = ""};
    struct report_names names = {.function = "", .file = ""};
    uint64_t number, pc;
    if (span_take(&line, "native:"))
        span_trim(&line);
    if (!span_take(&line, "#") || !span_number(&number, &line, 10))
        return false;
    span_trim(&line);
    if (!span_take(&line, "pc "))
        return false;
    span_trim(&line);
    span_take(&line, "0x");
    if (!span_number(&pc, &line, 16))
        return false;
    span_trim(&line);
    read_groups(&module, &names, modules->build, &line);
    module.path = build_text(modules->build, line.at, line.len);
    *frame_out = build_named(modules->build, backtrace_image(modules, &module), pc, MIRE_FOUND_PC, &names);
    return true;
}
