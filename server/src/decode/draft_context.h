/*
 * draft_context.h - the context of a foreign report, in the fields of the SDK's own (mire/context.h). Inside decode/ only.
 *
 *     what the formats tell                          becomes
 *     user id, e-mail or name                        user, always hashed as mire_set_user hashes it
 *     tags, flags, numbers of the device             tags
 *     screen, activity, transaction                  scene
 *     foreground, background ...                     state
 *     breadcrumbs with wall-clock times              crumbs, the last MIRE_DRAFT_CRUMBS
 *
 * Texts are cut as the SDK cuts them. A first value stays: later calls with the same field or tag have no effect. An
 * empty text has none either.
 */
#ifndef MIRE_DECODE_DRAFT_CONTEXT_H
#define MIRE_DECODE_DRAFT_CONTEXT_H

#include "decode/draft.h"

#define MIRE_DRAFT_CRUMBS 64
#define MIRE_DRAFT_TAGS   64

/* foreground, visible, perceptible, background. */
void draft_state(struct draft *b, const char *state);
void draft_scene(struct draft *b, const char *scene);

/* The user, by any text that is the same in all reports of this user and of no other. */
void draft_user(struct draft *b, const char *id);

/* A tag. Characters that mire_set_tag refuses become "_". A number or a flag reads as JSON writes it. */
void draft_tag(struct draft *b, const char *name, const char *value);
void draft_tag_at(struct draft *b, const char *name, const struct json *json, uint32_t at);

/*
 * The members of an object that the app filled itself, as tags ("WeChat.scene"); those under whose name apps file who the
 * user is (uin, user_id, email ...) are the user.
 *
 *   known  names that are left out, with a NULL at the end; NULL: none
 */
void draft_members(struct draft *b, const struct json *json, uint32_t at, const char *const *known);

/* An amount of memory or of a disk, as a tag in MiB. */
void draft_tag_bytes(struct draft *b, const char *name, struct fact bytes);

/* A breadcrumb. Breadcrumbs without a time have the time of the one before. */
void draft_crumb(struct draft *b, struct fact wall_ms, const char *text);

/*
 * Put the context into b->report. Breadcrumbs count from the start of the process, or from the oldest one; the clock of
 * the report begins there where the format tells none. After the report's times are known.
 */
void draft_end_context(struct draft *b);

#endif
