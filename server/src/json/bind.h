/*
 * bind.h - fills structs from JSON objects by a table of fields, and says where a document breaks the table's rules.
 *
 *     static const struct bind_field fields[] = {
 *         {"name", MIRE_BIND_TEXT, offsetof(struct app, name), .required = true, .max = 4096},
 *         {"pid", MIRE_BIND_FACT, offsetof(struct app, pid), .max = UINT32_MAX},
 *     };
 *     bind_object(bind, &app, at, fields, 2)     wrong: path "/app/pid", text "must be at most 4294967295"
 *
 *     bind_write(w, "app", &app, fields, 2, MIRE_BIND_NULL)   {"name": "shop", "pid": null}
 *
 * Members are read in the order of the table, not in that of the document; those not in it are skipped; one
 * that is given twice is wrong. An absent member leaves its field unchanged. Texts and columns lie in the arena; texts
 * have no NUL inside (U+0000 reads as U+FFFD, which every store can hold).
 */
#ifndef MIRE_JSON_BIND_H
#define MIRE_JSON_BIND_H

#include "base/arena.h"
#include "json/json.h"
#include "json/write.h"

#define MIRE_BIND_DEPTH_MAX  16
#define MIRE_BIND_FIELDS_MAX 48 /* rows of a table */
#define MIRE_BIND_PATH_MAX   256

struct bind_fault {
    char path[MIRE_BIND_PATH_MAX]; /* JSON Pointer, RFC 6901 */
    char text[160];
};

struct bind_step {
    const char *name; /* NULL: an element */
    size_t index;
};

struct bind {
    const struct json *json;
    struct arena *arena;
    struct bind_fault *fault;
    uint32_t depth;
    struct bind_step path[MIRE_BIND_DEPTH_MAX];
};

enum bind_outcome {
    MIRE_BIND_OK = 0,
    MIRE_BIND_WRONG = 1, /* the fault says what and where */
    MIRE_BIND_NO_MEMORY = -1,
};

enum bind_want {
    MIRE_BIND_TEXT,   /* const char *; at most `max` characters */
    MIRE_BIND_BOOL,   /* bool */
    MIRE_BIND_U32,    /* uint32_t in [min, max] */
    MIRE_BIND_U64,    /* uint64_t in [min, max] */
    MIRE_BIND_FACT,   /* struct fact in [min, max] */
    MIRE_BIND_COLUMN, /* struct bind_column: whole numbers in [min, max] */
    MIRE_BIND_OTHER,  /* anything; `read` does it */
};

/* A column of whole numbers; negative ones in two's complement. */
struct bind_column {
    uint64_t *values;
    size_t count;
    bool known;
};

struct bind_field {
    const char *name;
    enum bind_want want;
    size_t offset; /* of the member in the struct */
    bool required;
    int64_t min;
    uint64_t max;
    uint32_t items_max;                                                   /* of a column */
    enum bind_outcome (*read)(struct bind *bind, void *out, uint32_t at); /* out: the whole struct */
    void (*write)(struct json_writer *w, const char *name,
                  const void *in); /* the same of one that is OTHER; NULL: not written */
};

/* A table that more than one file uses. */
struct bind_table {
    const struct bind_field *fields;
    size_t count;
};
#define BIND_TABLE(rows)                    \
    {                                       \
        rows, sizeof(rows) / sizeof *(rows) \
    }

/* Fill the struct at `out` from the object at `at`. */
enum bind_outcome bind_object(struct bind *bind, void *out, uint32_t at, const struct bind_field *fields, size_t count);

/*
 * Write the members that the table names, in its order; an unknown fact as null, or not at all. Columns are not
 * written.
 */
enum bind_unknown { MIRE_BIND_LEAVE_OUT, MIRE_BIND_NULL };
void bind_write(struct json_writer *w, const void *in, const struct bind_table *table, enum bind_unknown unknown);

/* The same as an object under `key`. */
void bind_write_object(struct json_writer *w, const char *key, const void *in, const struct bind_table *table,
                       enum bind_unknown unknown);

/* A text of at most `max` characters. */
enum bind_outcome bind_text(const char **out, struct bind *bind, uint32_t at, uint64_t max);

/* A whole number in [min, max]; a negative one in two's complement. */
enum bind_outcome bind_number(uint64_t *out, struct bind *bind, uint32_t at, int64_t min, uint64_t max);

/* Whether the value is an array of at most `max` elements; wrong otherwise. */
enum bind_outcome bind_is_array(struct bind *bind, uint32_t at, uint32_t max);

/* An array of at most `most` texts of at most `max` characters each, in the arena. */
enum bind_outcome bind_texts(const char ***out, size_t *count_out, struct bind *bind, uint32_t at, uint32_t most,
                             uint64_t max);

/* Whether the value is an object; wrong otherwise. */
enum bind_outcome bind_is_object(struct bind *bind, uint32_t at);

/* Go into a member (name: borrowed while inside) or an element, and out again. */
void bind_enter(struct bind *bind, const char *name, size_t index);
void bind_leave(struct bind *bind);

/* Say that what we are in is wrong: fills the fault, returns MIRE_BIND_WRONG. */
__attribute__((format(printf, 2, 3))) enum bind_outcome bind_wrong(struct bind *bind, const char *format, ...);

/* The same of a member or an element of it. */
enum bind_outcome bind_wrong_at(struct bind *bind, const char *name, const char *text);
enum bind_outcome bind_wrong_element(struct bind *bind, const char *name, size_t index, const char *text);

#endif
