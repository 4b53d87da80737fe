/*
 * json.h - reads JSON in one pass to a flat tape.
 *
 *     {"a": [1, 2]}      tape:  0 object, 1 member      -> 5 comes after it
 *                               1 string "a"
 *                               2 array, 2 elements     -> 5
 *                               3 number 1
 *                               4 number 2
 *
 * A value is named by its place on the tape. A container's first child is the next place; json_next() of a child is its
 * sibling. Members are a string and the value after it. The tape refers to the text, which must stay in place.
 *
 * Accepted is RFC 8259 and nothing else: UTF-8 without a mark in front, no comments, no trailing commas. Integers are
 * exact over the whole of int64 and uint64; what does not fit is a double; a number beyond the doubles is refused. A
 * name that occurs twice in an object is kept twice on the tape, and the last one is found, as in most readers.
 *
 * Cost: one malloc'd tape of 16 bytes a value, kept between documents. Depth is bounded, nothing recurses.
 * Thread: one reader at a time; a read document may be shared.
 */
#ifndef MIRE_JSON_JSON_H
#define MIRE_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_JSON_DEPTH_MAX  2048 /* containers within each other: MetricKit nests two for each frame of a stack */
#define MIRE_JSON_VALUES_MAX (1u << 27) /* values on a tape: 2 GiB of it; the tape's links have 28 bits */
#define MIRE_JSON_NAME_MAX   85         /* bytes of a name to compare with or look for */
#define MIRE_JSON_TEXT_MAX   UINT32_MAX /* bytes of one string, so that a length fits */

enum json_kind {
    MIRE_JSON_NULL,
    MIRE_JSON_FALSE,
    MIRE_JSON_TRUE,
    MIRE_JSON_UINT, /* 0 .. 2^64 - 1 */
    MIRE_JSON_INT,  /* -2^63 .. -1 */
    MIRE_JSON_DOUBLE,
    MIRE_JSON_STRING,
    MIRE_JSON_ARRAY,
    MIRE_JSON_OBJECT,
};

struct json_slot { /* one place of the tape; use the functions below */
    uint32_t head; /* kind << 28 | next place */
    uint32_t size; /* bytes of a string, elements, members */
    uint64_t bits; /* number, or where the string begins; top bit: it holds escapes */
};

struct json {
    const char *text;
    struct json_slot *slots;
    uint32_t count;
    uint32_t room;
};

struct json_limits {
    uint32_t depth_max;  /* 1..MIRE_JSON_DEPTH_MAX */
    uint32_t values_max; /* 1..MIRE_JSON_VALUES_MAX */
    bool tolerant;       /* accept what known producers write by mistake: "1.:" for 1.9999999 (a digit ten) and "1.",
                          * "(" for no number, "-(" for -2^63, and 1e999; in strings bytes that are not UTF-8, control characters, and half a surrogate pair */
};

#define MIRE_JSON_LIMITS                                           \
    {                                                              \
        .depth_max = 32, .values_max = 1u << 22, .tolerant = false \
    }

struct json_fault {
    size_t at;        /* byte of the text where reading stopped */
    const char *text; /* what was wrong there, static */
};

enum json_outcome {
    MIRE_JSON_OK = 0,
    MIRE_JSON_MALFORMED = 1, /* not JSON; see the fault */
    MIRE_JSON_TOO_BIG = 2,   /* over a limit; see the fault */
    MIRE_JSON_NO_MEMORY = -1,
};

/* An empty reader. Takes no memory before the first document. */
void json_init(struct json *json);

/* Give the tape back. */
void json_fini(struct json *json);

/*
 * Read one document, in place of the one read before.
 *
 *   text, len  borrowed until the next read or fini; needs no NUL at the end and no room behind it
 *   fault      filled unless the result is MIRE_JSON_OK
 *
 * Returns an outcome. After anything but MIRE_JSON_OK the document is empty.
 */
enum json_outcome json_read(struct json *json, struct json_fault *fault, const char *text, size_t len,
                            const struct json_limits *limits);

/* Kind of the value at a place. Place 0 is the document. */
static inline enum json_kind json_kind(const struct json *json, uint32_t at)
{
    return (enum json_kind)(json->slots[at].head >> 28);
}

/* Place after the value and all in it. */
static inline uint32_t json_next(const struct json *json, uint32_t at)
{
    return json->slots[at].head & 0x0fffffffu;
}

/* Elements of an array, members of an object, bytes of a string as it stands in the text. */
static inline uint32_t json_size(const struct json *json, uint32_t at)
{
    return json->slots[at].size;
}

/* Value of an object's member `name` (at most MIRE_JSON_NAME_MAX bytes; the last of that name), 0 if there is none. */
uint32_t json_member(const struct json *json, uint32_t object, const char *name);

/* Whether the string at a place reads `text` (at most MIRE_JSON_NAME_MAX bytes). */
bool json_is(const struct json *json, uint32_t string, const char *text);

/*
 * The characters of a string, unescaped, without a NUL at the end.
 *
 *   out  room for json_size() bytes: unescaping never lengthens
 *
 * Returns the bytes written. "\u0000" is one zero byte.
 */
size_t json_text(char *out, const struct json *json, uint32_t string);

/* The number at a place as uint64: true if it is a whole number in range. 1.0 and 1e3 are, up to 2^53. */
bool json_u64(uint64_t *out, const struct json *json, uint32_t at);

/* The same as int64. */
bool json_i64(int64_t *out, const struct json *json, uint32_t at);

/* Any number as double; NaN if it is no number. */
double json_double(const struct json *json, uint32_t at);

#endif
