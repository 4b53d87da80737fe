/*
 * apple.h - common parts of the formats of Apple's systems: modules by address, times as text, names of machines.
 * Inside decode/ only.
 */
#ifndef MIRE_DECODE_APPLE_H
#define MIRE_DECODE_APPLE_H

#include "decode/build.h"
#include "decode/foreign.h"

/* ---- a JSON document, read leniently: a value that is absent or of another kind is "", 0 or unknown ---- */

/*
 * Place of the member of the object at `at` (0: of nothing), at most three steps down ("system", "memory", "size"); 0:
 * there is none. NULL ends the steps.
 */
uint32_t look(const struct json *json, uint32_t at, const char *first, const char *second, const char *third);
uint32_t look_one(const struct json *json, uint32_t at, const char *name);

/* Place of a member of the document itself. */
uint32_t look_root(const struct json *json, const char *name);

/* A whole number, also one that is written as a text, in decimal or with 0x, or as a fraction (cut). A negative one is
 * read modulo 2^64: producers print addresses so. */
struct fact look_number(const struct json *json, uint32_t at);

/* A flag; false where it is none. */
bool look_flag(const struct json *json, uint32_t at);

/* Elements of an array; of what is none 0. */
uint32_t look_count(const struct json *json, uint32_t at);

/* The text of the element or member; "". */
const char *look_text(struct build *b, const struct json *json, uint32_t at, const char *name);

/* The whole string at a place, of any length, to be taken apart: it may be no UTF-8. "" if there is none. */
const char *look_long(struct build *b, const struct json *json, uint32_t at);

/* Whether a text is there and reads so. */
bool look_is(const struct json *json, uint32_t at, const char *text);

/* ---- modules ---- */

struct apple_module { /* a loaded module, as the format has it */
    uint64_t begin, size;
    struct fact vmaddr; /* where it begins by its own headers; unknown: frames count from its beginning */
    uint8_t id[MIRE_BUILD_ID_MAX];
    uint8_t id_len;
    const char *name, *arch;
    enum image_tie tie;
    uint32_t name_at; /* place of the name in the document, while `name` is NULL */
    int32_t image;    /* MIRE_MODULE_NEW, or the number in the report; images are made when a frame needs them */
};

#define MIRE_MODULE_NEW (-2)

struct apple_modules {
    struct build *b;
    const struct json *json;
    const char *program; /* path of the executable: modules below its folder are the app's */
    bool apple;          /* modules below /System and /usr/lib are the system's */
    struct apple_module *rows;
    size_t count, room;
    bool sorted;
};

/* Room for `count` modules. False: no memory. */
bool modules_begin(struct apple_modules *m, struct build *b, const struct json *json, size_t count);
void modules_add(struct apple_modules *m, const struct apple_module *module);

/* The module with an address; NULL: none. */
struct apple_module *modules_find(struct apple_modules *m, uint64_t address);

/* The number of its image in the report; -1: there is no room. */
int32_t modules_image(struct apple_modules *m, struct apple_module *module);

/*
 * The frame of an address.
 *
 *   caller  the address is a return address; the frame is that of the call before it
 *   told    as build_name gives it
 */
uint32_t modules_frame(struct apple_modules *m, uint64_t address, bool caller, const struct report_names *names);

/* Hex digits of a UUID, with dashes or without, or of any id; 0: it is none. */
uint8_t read_id(uint8_t out[MIRE_BUILD_ID_MAX], const char *text);

/* ---- times and machines ---- */

/* Milliseconds since 1970: "2020-10-12T03:59:00Z", with a space, a fraction, a zone (+0000, -05:00) or none (UTC). */
struct fact read_time(const char *text);

/* A number with a unit: "20 sec", "20,5 secs.", "2,000 byte", "9850ms", "3 min": in milliseconds or bytes by the
 * unit's kind; a comma before three digits parts thousands. Unknown where it is none. */
struct fact read_amount(const char *text);

/* Mire's word for an operating system: ios, macos, tvos, watchos, visionos, android, linux, windows; otherwise in small
 * letters as it stands. */
const char *os_word(struct build *b, const char *name);

/* Mire's word for a processor: arm64 and arm64e are aarch64. */
const char *arch_word(struct build *b, const char *name);

/* The words of class that the SDK uses: "6gb". "" where memory is not known. */
const char *memory_class(struct build *b, struct fact memory_bytes);

/* The installation, from any text that stands for it alone; zeros of "". */
void install_of(uint8_t out[16], const char *text);

#endif
