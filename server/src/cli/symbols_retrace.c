/*
 * symbols_retrace.c - `mire symbols look MAPPING`: Java frames with short names, as the source has them. Lines that are
 * no frames are passed through, so a whole stack trace can be given.
 */
#include "cli/symbols_retrace.h"
#include "cli/cli.h"
#include "cli/say.h"

#include "object/object.h"
#include "symbols/retrace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_ROOM 8192

struct java_frame {
    char class_name[LINE_ROOM];
    const char *method; /* in class_name, behind a NUL */
    uint32_t line;
};

/* "at a.b.c(SourceFile:12)", "a.b.c(Unknown Source)", "a.b.c:12" or "a.b.c". */
static bool read_frame(struct java_frame *out, const char *text)
{
    text += strspn(text, " \t");
    text += !strncmp(text, "at ", 3) ? 3 : 0;
    const char *slash = memrchr(text, '/', strcspn(text, "(")); /* a loader or module before the class */
    text = slash ? slash + 1 : text;
    size_t len = strcspn(text, "(: \t\r\n");
    const char *colon = strrchr(text, ':');
    if (!len || len >= sizeof out->class_name || text[len] == ' ' || text[len] == '\t')
        return false;
    memcpy(out->class_name, text, len);
    out->class_name[len] = '\0';
    char *dot = strrchr(out->class_name, '.');
    if (!dot || dot == out->class_name || !dot[1])
        return false;
    *dot = '\0';
    out->method = dot + 1;
    unsigned long line = colon && isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, NULL, 10) : 0;
    out->line = line < UINT32_MAX ? (uint32_t)line : 0;
    return true;
}

static void print_frame(const struct retrace_frame *frame)
{
    say(stdout, "    at %.*s.%.*s", (int)frame->class_len, frame->class_name, (int)frame->method_len, frame->method);
    if (frame->file[0] && frame->line)
        say(stdout, "(%s:%" PRIu32 ")", frame->file, frame->line);
    else if (frame->file[0])
        say(stdout, "(%s)", frame->file);
    puts(frame->ambiguous ? " or" : "");
}

static void look(struct retrace_carry *carry, const struct retrace *retrace, bool methods, const char *text)
{
    struct retrace_frame frames[MIRE_RETRACE_CHAIN];
    struct java_frame frame;
    if (methods) {
        if (isdigit((unsigned char)*text) && retrace_method(frames, retrace, strtoull(text, NULL, 10)))
            print_frame(frames);
        else
            say(stdout, "%s\n", text);
        return;
    }
    size_t count = 0;
    if (read_frame(&frame, text)) {
        count = retrace_frame(frames, carry, retrace, frame.class_name, frame.method, frame.line);
        if (!count && carry->position)
            return; /* an outline */
    }
    for (size_t i = 0; i < count; i++)
        print_frame(&frames[i]);
    if (!count)
        say(stdout, "%s\n", text);
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
    char line[LINE_ROOM];
    const char *wrong = file_bytes_map(&file, path) ? object_open(&object, &file, NULL, 0, 1) : "cannot be read";
    if (!wrong)
        wrong = retrace_open(&retrace, object);
    if (wrong)
        say(stderr, "mire symbols: %s %s\n", path, wrong);
    bool methods = !wrong && object->facts.format == MIRE_FORMAT_METHODMAP;
    for (int i = 0; !wrong && i < count; i++)
        look(&carry, retrace, methods, frames[i]);
    while (!wrong && !count && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = '\0';
        look(&carry, retrace, methods, line);
    }
    retrace_close(retrace);
    object_close(object);
    file_bytes_unmap(&file);
    return wrong ? CLI_FAILED : CLI_DONE;
}
