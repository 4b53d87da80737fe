/*
 * build_context.h - the context of a foreign report, in the fields of the SDK's own (mire/context.h). Inside decode/ only.
 *
 *     what the formats contain                       becomes
 *     user id, e-mail or name                        user, always hashed as mire_set_user hashes it
 *     tags, flags, numbers of the device             tags
 *     screen, activity, transaction                  scene
 *     foreground, background ...                     state
 *     breadcrumbs with wall-clock times              crumbs, the last MIRE_BUILD_CRUMBS
 *
 * Texts are cut as the SDK cuts them. A first value stays: later calls with the same field or tag have no effect. An
 * empty text has none either.
 */
#ifndef MIRE_DECODE_BUILD_CONTEXT_H
#define MIRE_DECODE_BUILD_CONTEXT_H

#include "decode/build.h"

#define MIRE_BUILD_CRUMBS 64
#define MIRE_BUILD_TAGS   64

/* foreground, visible, perceptible, background. */
void build_state(struct build *b, const char *state);
void build_scene(struct build *b, const char *scene);

/* The user, by any text that is the same in all reports of this user and of no other. */
void build_user(struct build *b, const char *id);

/* A tag. Characters that mire_set_tag refuses become "_". A number or a flag reads as JSON writes it. */
void build_tag(struct build *b, const char *name, const char *value);
void build_tag_at(struct build *b, const char *name, const struct json *json, uint32_t at);

/*
 * The members of an object that the app filled itself, as tags ("WeChat.scene"); those under whose name apps file who the
 * user is (uin, user_id, email ...) are the user.
 *
 *   known  names that are left out, with a NULL at the end; NULL: none
 */
void build_members(struct build *b, const struct json *json, uint32_t at, const char *const *known);

/* An amount of memory or of a disk, as a tag in MiB. */
void build_tag_bytes(struct build *b, const char *name, struct fact bytes);

/* A breadcrumb. Breadcrumbs without a time have the time of the one before. */
void build_crumb(struct build *b, struct fact wall_ms, const char *text);

/*
 * Put the context into b->report-> Breadcrumbs count from the start of the process, or from the oldest one; the clock of
 * the report begins there where the format has none. After the report's times are known.
 */
void build_end_context(struct build *b);

#endif
