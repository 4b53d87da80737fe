/*
 * symbols_retrace.c - `mire symbols look MAPPING`: a Java stack trace with the names of the source. Text that is no
 * name of the mapping stays unchanged to the byte: indents, log prefixes, modules and loaders before a class.
 */
#include "cli/symbols_retrace.h"
#include "cli/cli.h"
#include "cli/say.h"

#include "object/object.h"
#include "java/retrace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_ROOM 8192

struct text_span {
    const char *at, *end;
};

/* "  at loader/module/a.b.c(SourceFile:12) ~[x.jar]", or a frame alone: "a.b.c(SourceFile:12)", "a.b.c:12", "a.b.c". */
struct java_frame {
    struct text_span class_name, method;
    struct text_span file; /* with its line; at == end: no brackets */
    bool brackets;
    uint32_t line;
};

static bool is_name(char c)
{
    return c && !strchr(" \t\r\n\v\f[];:()<>", c);
}

static bool begins_name(char c)
{
    return is_name(c) && !isdigit((unsigned char)c);
}

static const char *skip_name(const char *at)
{
    while (is_name(*at))
        at++;
    return at;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t");
}

/* "<init>" and "<clinit>" are the only names with these characters. */
static const char *skip_method(const char *at)
{
    static const char *const special[] = {"<init>", "<clinit>"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (!strncmp(at, special[i], strlen(special[i])))
            return at + strlen(special[i]);
    return skip_name(at);
}

/* Spaces of Unicode too, U+00A0, U+2000 to U+200A, U+202F, U+205F and U+3000: traces are copied from web pages. */
static const char *skip_any_space(const char *at)
{
    static const char *const wide[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

    for (const char *before = NULL; before != at;) {
        before = at;
        at = skip_space(at);
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
            at += !strncmp(at, wide[i], strlen(wide[i])) ? strlen(wide[i]) : 0;
        at += !strncmp(at, "\xe2\x80", 2) && (unsigned char)at[2] >= 0x80 && (unsigned char)at[2] <= 0x8a ? 3 : 0;
    }
    return at;
}

/* The last ")" before the end, or before the origin that logback writes, "~[x.jar:1.0]"; NULL: none. */
static const char *closing(const char *at)
{
    const char *close = strrchr(at, ')');
    const char *origin = strstr(at, " ~[");
    if (origin && close > origin && at[strlen(at) - 1] == ']')
        close = memrchr(at, ')', (size_t)(origin - at));
    const char *rest = close ? skip_any_space(close + 1) : at;
    bool ends = !*rest || (!strncmp(rest, "~[", 2) && rest[strlen(rest) - 1] == ']');
    return close && ends ? close : NULL;
}

/* Behind the last ":" in front of digits, the line; the file may hold colons itself. */
static void split_line(struct java_frame *frame, const char *end)
{
    const char *digits = end;
    while (digits > frame->file.at && isdigit((unsigned char)digits[-1]))
        digits--;
    frame->line = 0;
    if (digits == end || digits == frame->file.at || digits[-1] != ':')
        return;
    unsigned long line = strtoul(digits, NULL, 10);
    frame->line = line <= INT32_MAX ? (uint32_t)line : 0;
}

/*
 * The names at a place of a text.
 *   alone  the frame is all of the text, brackets or not
 */
static bool read_names(struct java_frame *out, const char *at, bool alone)
{
    const char *end = begins_name(*at) ? skip_name(at) : at;
    const char *dot = end > at ? memrchr(at, '.', (size_t)(end - at)) : NULL;

    if (*end == '<' && end[-1] == '.')
        dot = end - 1;
    const char *method_end = dot ? skip_method(dot + 1) : at;
    const char *slash = dot ? memrchr(at, '/', (size_t)(dot - at)) : NULL; /* a loader or module before the class */
    const char *open = skip_space(method_end);
    if (!dot || dot == at || method_end == dot + 1)
        return false;
    *out = (struct java_frame){.class_name = {slash ? slash + 1 : at, dot}, .method = {dot + 1, method_end}};
    out->brackets = *open == '(';
    out->file.at = out->brackets ? open + 1 : method_end;
    out->file.end = out->brackets ? closing(open) : method_end + strcspn(method_end, " \t");
    if (!out->file.end || (!out->brackets && (!alone || *skip_space(out->file.end))))
        return false;
    split_line(out, out->file.end);
    return out->class_name.at < out->class_name.end;
}

static bool read_frame(struct java_frame *out, const char *text)
{
    for (const char *at = strstr(text, "at"); at; at = strstr(at + 1, "at")) {
        bool word = (at == text || !isalnum((unsigned char)at[-1])) && (at[2] == ' ' || at[2] == '\t');
        if (word && read_names(out, skip_space(at + 2), false))
            return true;
    }
    return read_names(out, skip_space(text), true);
}

/* As say does, but tabs stay: a trace's indents are made of them. */
static void print_line(const char *text)
{
    size_t len = strcspn(text, "\t");
    for (; text[len]; text += len + 1, len = strcspn(text, "\t"))
        say(stdout, "%.*s\t", (int)len, text);
    say(stdout, "%s\n", text);
}

/* A growing text of one line. */
struct trace_line {
    char text[2 * LINE_ROOM];
    size_t len;
};

static void add(struct trace_line *line, const char *at, size_t len)
{
    size_t room = sizeof line->text - 1 - line->len;
    len = len < room ? len : room;
    memcpy(line->text + line->len, at, len);
    line->len += len;
    line->text[line->len] = '\0';
}

static void add_text(struct trace_line *line, const char *text)
{
    add(line, text, strlen(text));
}

/* The frame's own line with the names of the source in place of its. */
static void write_frame(struct trace_line *out, const char *text, const struct java_frame *frame,
                        const struct retrace_frame *found, bool is_other)
{
    char number[16];
    const char *mark = strstr(text, "at ");

    out->len = 0;
    if (is_other && (!mark || mark > frame->class_name.at))
        mark = skip_space(text);
    if (is_other) {
        add(out, text, (size_t)(mark - text));
        add_text(out, "<OR> ");
        text = mark;
    }
    add(out, text, (size_t)(frame->class_name.at - text));
    add(out, found->class_name, found->class_len);
    add_text(out, ".");
    add(out, found->method, found->method_len);
    add_text(out, "(");
    add_text(out, found->file);
    snprintf(number, sizeof number, ":%" PRIu32, found->line);
    if (found->line)
        add_text(out, number);
    if (frame->brackets)
        add_text(out, frame->file.end);
    else
        add_text(out, ")");
}

static bool same_frame(const struct retrace_frame *a, const struct retrace_frame *b)
{
    return a->line == b->line && a->class_len == b->class_len && a->method_len == b->method_len &&
           !memcmp(a->class_name, b->class_name, a->class_len) && !memcmp(a->method, b->method, a->method_len) &&
           !strcmp(a->file, b->file);
}

/* The frame of a choice at a level of inlined calls, innermost first; NULL: the choice has fewer. */
static const struct retrace_frame *frame_at(const struct retrace_answer *answer, uint16_t choice, size_t level)
{
    size_t first = 0;
    while (first < answer->count && answer->frames[first].choice != choice)
        first++;
    bool there = level < answer->count - first && answer->frames[first + level].choice == choice;
    return there ? &answer->frames[first + level] : NULL;
}

/* If a frame may be one of several, each level of calls lists them all, equal ones once. */
static void print_frames(const struct retrace_answer *answer, const char *text, const struct java_frame *frame)
{
    uint16_t choices = (uint16_t)(answer->frames[answer->count - 1].choice + 1);
    struct trace_line line;

    for (size_t level = 0; level < answer->count; level++)
        for (uint16_t choice = 0; choice < choices; choice++) {
            const struct retrace_frame *found = frame_at(answer, choice, level);
            bool known = !found;
            for (uint16_t k = 0; k < choice && !known; k++) {
                const struct retrace_frame *other = frame_at(answer, k, level);
                known = other && same_frame(other, found);
            }
            if (known)
                continue;
            write_frame(&line, text, frame, found, choice > 0);
            print_line(line.text);
        }
}

/* "Caused by: a.b.c: message": each possible class, and the exception for the next frame. */
static void print_classes(struct retrace_carry *carry, const struct retrace *retrace, const char *text)
{
    const char *from = text;
    struct trace_line out = {.len = 0};

    out.text[0] = '\0';
    *carry = (struct retrace_carry){0};
    for (const char *at = text; *at;) {
        bool here = at == text || ((at[-1] == ' ' || at[-1] == '\t') && at > text + 1 && strchr(":\"", *(at - 2)));
        const char *end = here && begins_name(*at) ? skip_name(at) : at;
        if (end == at || (*end && *end != ':' && *end != ']')) {
            at++;
            continue;
        }
        size_t len;
        const char *name = retrace_class_name(&len, retrace, at, (size_t)(end - at));
        if (!carry->thrown && memchr(at, '.', (size_t)(end - at))) {
            carry->thrown = at;
            carry->thrown_len = (size_t)(end - at);
        }
        add(&out, from, (size_t)(at - from));
        add(&out, name ? name : at, name ? len : (size_t)(end - at));
        from = at = end;
    }

    add_text(&out, from);
    print_line(out.text);
}

static void print_method(const struct retrace *retrace, const char *text)
{
    struct retrace_frame frame;
    if (isdigit((unsigned char)*text) && retrace_method(&frame, retrace, strtoull(text, NULL, 10)))
        say(stdout, "    at %.*s.%.*s\n", (int)frame.class_len, frame.class_name, (int)frame.method_len, frame.method);
    else
        print_line(text);
}

static char *copy(char out[LINE_ROOM], const struct text_span *span)
{
    size_t len = (size_t)(span->end - span->at);
    len = len < LINE_ROOM - 1 ? len : LINE_ROOM - 1;
    memcpy(out, span->at, len);
    out[len] = '\0';
    return out;
}

static void look_frame(struct retrace_carry *carry, const struct retrace *retrace, const char *text,
                       const struct java_frame *frame)
{
    char class_name[LINE_ROOM], method[LINE_ROOM], file[LINE_ROOM];
    static struct retrace_answer answer;
    struct text_span file_span = frame->file;
    const struct retrace_query query = {.class_name = copy(class_name, &frame->class_name),
                                        .method = copy(method, &frame->method),
                                        .file = copy(file, &file_span),
                                        .line = frame->line};

    char *colon = strrchr(file, ':');
    if (colon && frame->line)
        *colon = '\0';
    retrace_frame(&answer, carry, retrace, &query);
    if (answer.count)
        print_frames(&answer, text, frame);
    else if (!answer.left_out)
        print_line(text);
}

/* "a.b.c" alone may also be an exception's class. */
static bool is_known(const struct retrace *retrace, const struct java_frame *frame)
{
    size_t len = (size_t)(frame->class_name.end - frame->class_name.at);
    return frame->brackets || retrace_class_name(&len, retrace, frame->class_name.at, len);
}

/* The carry's exception lies in the text of the line before, which is kept for this. */
static void look(struct retrace_carry *carry, const struct retrace *retrace, bool methods, const char *text)
{
    struct java_frame frame;
    if (methods)
        print_method(retrace, text);
    else if (read_frame(&frame, text) && is_known(retrace, &frame))
        look_frame(carry, retrace, text, &frame);
    else
        print_classes(carry, retrace, text);
}

bool symbols_is_mapping(const char *path)
{
    struct object_facts facts;
    struct file_bytes file;
    if (!file_bytes_map(&file, path))
        return false;
    bool mapping = !object_look(&facts, file.bytes, file.len, NULL, 0) &&
                   (facts.format == MIRE_FORMAT_MAPPING || facts.format == MIRE_FORMAT_METHODMAP);
    file_bytes_unmap(&file);
    return mapping;
}

int symbols_retrace(const char *path, char *const *frames, int count)
{
    struct file_bytes file;
    struct object *object = NULL;
    struct retrace *retrace = NULL;
    struct retrace_carry carry = {0};
    char lines[2][LINE_ROOM];

    const char *wrong = file_bytes_map(&file, path) ? object_open(&object, &file, NULL, 0, 1) : "cannot be read";
    if (!wrong)
        wrong = retrace_open(&retrace, object);
    if (wrong)
        say(stderr, "mire symbols: %s %s\n", path, wrong);
    bool methods = !wrong && object->facts.format == MIRE_FORMAT_METHODMAP;
    for (int i = 0; !wrong && i < count; i++)
        look(&carry, retrace, methods, frames[i]);
    for (size_t i = 0; !wrong && !count && fgets(lines[i % 2], LINE_ROOM, stdin); i++) {
        lines[i % 2][strcspn(lines[i % 2], "\r\n")] = '\0';
        look(&carry, retrace, methods, lines[i % 2]);
    }
    retrace_close(retrace);
    object_close(object);
    file_bytes_unmap(&file);
    return wrong ? CLI_FAILED : CLI_DONE;
}
