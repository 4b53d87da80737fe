/*
 * ks_context.c - the context of reports of KSCrash and Matrix: what the app added (user), and the state of app and device.
 */
#include "decode/ksreport.h"

#include "decode/build_context.h"

#include <string.h>
#include <strings.h>

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
    build_state(ks->b, state_of(transition));
    if (look_flag(json, look_one(json, stats, "application_in_foreground")))
        build_state(ks->b, look_one(json, stats, "application_active") &&
                                   !look_flag(json, look_one(json, stats, "application_active"))
                               ? "visible"
                               : "foreground");
    build_tag_at(ks->b, "memory_level", json, look_one(json, memory, "memory_level"));
    build_tag_at(ks->b, "memory_pressure", json, look_one(json, memory, "memory_pressure"));
    build_tag_bytes(ks->b, "free_memory", look_number(json, look(json, ks->system, "memory", "free", NULL)));
    build_tag_bytes(ks->b, "free_disk", look_number(json, look_one(json, ks->system, "freeStorage")));
    build_tag_at(ks->b, "jailbroken", json, look_one(json, ks->system, "jailbroken"));
    build_tag_at(ks->b, "build_type", json, look_one(json, ks->system, "build_type"));
    if (user)
        build_members(ks->b, json, user, NULL);
}
