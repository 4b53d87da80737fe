/* fields.h - rows of the tables of facts. Inside document/ only. */
#ifndef MIRE_DOCUMENT_FIELDS_H
#define MIRE_DOCUMENT_FIELDS_H

/* clang-format off */
#define TEXT(type, member, key, most) {.name = key, .want = MIRE_BIND_TEXT, .offset = offsetof(type, member), .max = most}
#define FACT(type, member, key, most) {.name = key, .want = MIRE_BIND_FACT, .offset = offsetof(type, member), .max = most}
#define U64(type, member, key, most)  {.name = key, .want = MIRE_BIND_U64, .offset = offsetof(type, member), .max = most}
#define REQUIRED_U64(type, member, key, most) \
    {.name = key, .want = MIRE_BIND_U64, .offset = offsetof(type, member), .max = most, .required = true}
/* clang-format on */

#endif
