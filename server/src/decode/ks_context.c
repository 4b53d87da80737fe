/*
 * ks_context.c - the context of reports of KSCrash and Matrix: what the app added (user), and the state of app and device.
 */
#include "decode/ksreport.h"

#include "decode/draft_context.h"

#include <string.h>
#include <strings.h>

#define DEPTH_MAX 3 /* objects within each other that become tags: "WeChat.scene" */

/* Names under which apps file who the user is. */
static bool is_user(const char *name)
{
    static const char *const names[] = {"uin", "uid", "user", "userid", "user_id", "username", "email", "openid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(names[i], name))
            return true;
    return false;
}

static void read_user(struct ks *ks, uint32_t at, const char *prefix, int depth)
{
    const struct json *json = ks->json;
    uint32_t count = json_kind(json, at) == MIRE_JSON_OBJECT ? json_size(json, at) : 0, member = at + 1;
    for (uint32_t i = 0; i < count; i++, member = json_next(json, member + 1)) {
        const char *name = draft_string(ks->b, json, member);
        uint32_t value = member + 1;
        if (json_kind(json, value) == MIRE_JSON_OBJECT) {
            if (depth < DEPTH_MAX)
                read_user(ks, value, draft_printf(ks->b, "%s%s.", prefix, name), depth + 1);
        } else if (is_user(name)) {
            struct fact number = look_number(json, value);
            const char *text = draft_string(ks->b, json, value);
            draft_user(ks->b,
                       text[0] || !number.known ? text : draft_printf(ks->b, "%llu", (unsigned long long)number.value));
        } else {
            draft_tag_at(ks->b, draft_printf(ks->b, "%s%s", prefix, name), json, value);
        }
    }
}

/* app_transition_state of KSCrash 2.x and 3.x. */
static const char *state_of(const char *transition)
{
    static const struct {
        const char *word, *state;
    } states[] = {{"active", "foreground"},     {"foregrounding", "visible"}, {"deactivating", "visible"},
                  {"background", "background"}, {"exiting", "background"},    {"terminating", "background"}};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcasecmp(states[i].word, transition))
            return states[i].state;
    return "";
}

void ks_context(struct ks *ks)
{
    const struct json *json = ks->json;
    uint32_t memory = look_one(json, ks->system, "app_memory"), stats = look_one(json, ks->system, "application_stats");
    uint32_t user = look_root(json, "user");
    const char *transition = look_text(ks->b, json, memory, "app_transition_state");
    draft_state(ks->b, state_of(transition));
    if (look_flag(json, look_one(json, stats, "application_in_foreground")))
        draft_state(ks->b, look_one(json, stats, "application_active") &&
                                   !look_flag(json, look_one(json, stats, "application_active"))
                               ? "visible"
                               : "foreground");
    draft_tag_at(ks->b, "memory_level", json, look_one(json, memory, "memory_level"));
    draft_tag_at(ks->b, "memory_pressure", json, look_one(json, memory, "memory_pressure"));
    draft_tag_bytes(ks->b, "free_memory", look_number(json, look(json, ks->system, "memory", "free", NULL)));
    draft_tag_bytes(ks->b, "free_disk", look_number(json, look_one(json, ks->system, "freeStorage")));
    draft_tag_at(ks->b, "jailbroken", json, look_one(json, ks->system, "jailbroken"));
    draft_tag_at(ks->b, "build_type", json, look_one(json, ks->system, "build_type"));
    if (user)
        read_user(ks, user, "", 1);
}
