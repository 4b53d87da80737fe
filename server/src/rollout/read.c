/* read.c - reads a rollout as its author writes it into struct rollout. */
#include "rollout/rollout.h"

#include "model/context.h"
#include "wire/limits.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAME_MAX_CHARS  64
#define WORD_MAX_CHARS  128
#define PARAMETER_BYTES 31 /* of a name; an SDK knows no longer ones */
#define PARAMETER_CHARS 12 /* of a word: with everything said at once a document stays below MIRE_WIRE_ROLLOUT_MAX */
#define FETCH_MIN_S     60
#define FETCH_MAX_S     604800

/* An object with known members only: `names` ends with NULL. */
static enum bind_outcome check_members(struct bind *bind, uint32_t at, const char *const *names)
{
    enum bind_outcome outcome = bind_is_object(bind, at);
    uint32_t name = at + 1;

    for (uint32_t i = 0; !outcome && i < json_size(bind->json, at); i++, name = json_next(bind->json, name + 1)) {
        const char *const *known = names;
        while (*known && !json_is(bind->json, name, *known))
            known++;
        if (!*known) {
            const char *text = "";
            bind_text(&text, bind, name, WORD_MAX_CHARS);
            return bind_wrong(bind, "has a member \"%.*s\", which is not known here", TEXT_CUT(text, 40));
        }
    }
    return outcome;
}

/* Read an optional member with `read`. */
static enum bind_outcome read_member(struct bind *bind, uint32_t at, const char *name, void *out,
                                     enum bind_outcome (*read)(struct bind *bind, void *out, uint32_t at))
{
    uint32_t member = json_member(bind->json, at, name);
    enum bind_outcome outcome;

    if (!member)
        return MIRE_BIND_OK;
    bind_enter(bind, name, 0);
    outcome = read(bind, out, member);
    if (!outcome)
        bind_leave(bind);
    return outcome;
}

static enum bind_outcome read_text(struct bind *bind, void *out, uint32_t at)
{
    return bind_text(out, bind, at, WORD_MAX_CHARS);
}

static enum bind_outcome read_bool(struct bind *bind, void *out, uint32_t at)
{
    enum json_kind kind = json_kind(bind->json, at);

    *(bool *)out = kind == MIRE_JSON_TRUE;
    return kind == MIRE_JSON_TRUE || kind == MIRE_JSON_FALSE ? MIRE_BIND_OK : bind_wrong(bind, "must be true or false");
}

/* A share from 0 to 1, to the millionth. */
static enum bind_outcome read_share(struct bind *bind, void *out, uint32_t at)
{
    double p = json_double(bind->json, at);

    if (!(p >= 0 && p <= 1))
        return bind_wrong(bind, "must be a number from 0 to 1");
    *(uint32_t *)out = (uint32_t)lround(p * MIRE_WIRE_PPM_MAX);
    return MIRE_BIND_OK;
}

static enum bind_outcome read_salt(struct bind *bind, void *out, uint32_t at)
{
    enum bind_outcome outcome = bind_text(out, bind, at, MIRE_WIRE_SALT_MAX);
    const char *salt = *(const char **)out;

    for (; !outcome && *salt; salt++)
        if ((unsigned char)*salt < 0x20 || (unsigned char)*salt > 0x7e)
            return bind_wrong(bind, "must be printable ASCII");
    return outcome;
}

static enum bind_outcome read_words(struct bind *bind, void *out, uint32_t at)
{
    struct rule_words *words = out;
    enum bind_outcome outcome =
        bind_texts(&words->words, &words->count, bind, at, MIRE_ROLLOUT_LIST_MAX, WORD_MAX_CHARS);

    words->known = !outcome;
    return outcome;
}

static enum bind_outcome read_range(struct bind *bind, void *out, uint32_t at)
{
    static const char *const names[] = {"from", "to", NULL};
    struct rule_range *range = out;
    enum bind_outcome outcome = check_members(bind, at, names);

    if (!outcome)
        outcome = read_member(bind, at, "from", &range->from, read_text);
    return outcome ? outcome : read_member(bind, at, "to", &range->to, read_text);
}

static enum bind_outcome read_draw(struct bind *bind, void *out, uint32_t at)
{
    static const char *const names[] = {"from", "to", "salt", NULL};
    struct rule_share *share = out;
    enum bind_outcome outcome = check_members(bind, at, names);

    share->known = true;
    share->to = MIRE_WIRE_PPM_MAX;
    if (!outcome)
        outcome = read_member(bind, at, "from", &share->from, read_share);
    if (!outcome)
        outcome = read_member(bind, at, "to", &share->to, read_share);
    return outcome ? outcome : read_member(bind, at, "salt", &share->salt, read_salt);
}

static enum bind_outcome read_when(struct bind *bind, void *out, uint32_t at)
{
    static const struct {
        const char *name;
        size_t offset;
        enum bind_outcome (*read)(struct bind *bind, void *out, uint32_t at);
    } conditions[] = {
        {"channels", offsetof(struct rollout_rule, channels), read_words},
        {"versions", offsetof(struct rollout_rule, versions), read_range},
        {"os", offsetof(struct rollout_rule, os), read_words},
        {"os_versions", offsetof(struct rollout_rule, os_versions), read_range},
        {"classes", offsetof(struct rollout_rule, classes), read_words},
        {"archs", offsetof(struct rollout_rule, archs), read_words},
        {"installs", offsetof(struct rollout_rule, installs), read_words},
        {"share", offsetof(struct rollout_rule, share), read_draw},
    };
    static const char *const names[] = {"channels", "versions", "os",    "os_versions", "classes",
                                        "archs",    "installs", "share", NULL};
    enum bind_outcome outcome = check_members(bind, at, names);

    for (size_t i = 0; !outcome && i < sizeof conditions / sizeof *conditions; i++)
        outcome = read_member(bind, at, conditions[i].name, (char *)out + conditions[i].offset, conditions[i].read);
    return outcome;
}

static bool is_parameter_name(const char *name)
{
    return *name && strlen(name) <= PARAMETER_BYTES &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static enum bind_outcome read_parameter(struct rule_parameter *out, struct bind *bind, uint32_t name)
{
    uint32_t at = name + 1;
    enum bind_outcome outcome = bind_text(&out->name, bind, name, WORD_MAX_CHARS);

    if (outcome)
        return outcome;
    if (!is_parameter_name(out->name))
        return bind_wrong(bind, "names are a-z, 0-9 and _, %d at most", PARAMETER_BYTES);
    bind_enter(bind, out->name, 0);
    if (json_kind(bind->json, at) == MIRE_JSON_STRING)
        outcome = bind_text(&out->word, bind, at, PARAMETER_CHARS);
    else
        outcome = bind_number(&out->number, bind, at, 0, UINT64_MAX);
    if (!outcome)
        bind_leave(bind);
    return outcome;
}

static enum bind_outcome read_parameters(struct bind *bind, void *out, uint32_t at)
{
    struct rule_plugin *plugin = out;
    enum bind_outcome outcome = bind_is_object(bind, at);
    uint32_t name = at + 1;

    if (outcome)
        return outcome;
    if (json_size(bind->json, at) > MIRE_ROLLOUT_PARAMETERS_MAX)
        return bind_wrong(bind, "has more than %d members", MIRE_ROLLOUT_PARAMETERS_MAX);
    plugin->parameters = arena_array(bind->arena, json_size(bind->json, at) + 1, sizeof *plugin->parameters);
    if (!plugin->parameters)
        return MIRE_BIND_NO_MEMORY;
    for (uint32_t i = 0; !outcome && i < json_size(bind->json, at); i++, name = json_next(bind->json, name + 1))
        outcome = read_parameter(&plugin->parameters[plugin->parameter_count++], bind, name);
    return outcome;
}

static enum bind_outcome read_plugin(struct bind *bind, void *out, uint32_t at)
{
    static const char *const names[] = {"probability", "salt", "parameters", NULL};
    struct rule_plugin *plugin = out;
    enum bind_outcome outcome = check_members(bind, at, names);

    plugin->known = true;
    if (!outcome && !json_member(bind->json, at, "probability"))
        return bind_wrong(bind, "needs a probability");
    if (!outcome)
        outcome = read_member(bind, at, "probability", &plugin->ppm, read_share);
    if (!outcome)
        outcome = read_member(bind, at, "salt", &plugin->salt, read_salt);
    return outcome ? outcome : read_member(bind, at, "parameters", plugin, read_parameters);
}

static enum bind_outcome read_plugins(struct bind *bind, void *out, uint32_t at)
{
    const char *names[MIRE_PLUGINS + 1] = {NULL};
    struct rollout_rule *rule = out;
    enum bind_outcome outcome;

    for (int i = 0; i < MIRE_PLUGINS; i++)
        names[i] = mire__plugin_name(i);
    outcome = check_members(bind, at, names);
    for (int i = 0; !outcome && i < MIRE_PLUGINS; i++)
        outcome = read_member(bind, at, names[i], &rule->plugins[i], read_plugin);
    return outcome;
}

/* A part of the context, as sdk/src/report/left_out.h has them. */
static bool is_part(const char *word)
{
    static const char *const parts[] = {"state", "scene", "user", "crumbs", "tags", "flags"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i], word) == 0)
            return true;
    return strncmp(word, "tag:", 4) == 0 && context_is_tag_name(word + 4);
}

static enum bind_outcome read_leave_out(struct bind *bind, void *out, uint32_t at)
{
    const struct rule_words *words = out;
    enum bind_outcome outcome = read_words(bind, out, at);
    size_t bytes = 0;

    for (size_t i = 0; !outcome && i < words->count; i++) {
        bytes += strlen(words->words[i]) + 1;
        if (!is_part(words->words[i]))
            return bind_wrong(bind, "has \"%.*s\"; words are state, scene, user, crumbs, tags, flags, tag:NAME",
                              TEXT_CUT(words->words[i], 40));
    }
    if (!outcome && bytes > MIRE_WIRE_LEAVE_OUT_MAX)
        return bind_wrong(bind, "has more than %u bytes of words", MIRE_WIRE_LEAVE_OUT_MAX);
    return outcome;
}

static enum bind_outcome read_rule(struct rollout_rule *rule, struct bind *bind, uint32_t at)
{
    static const char *const names[] = {"name", "when", "plugins", "leave_out", NULL};
    enum bind_outcome outcome = check_members(bind, at, names);

    rule->name = rule->versions.from = rule->versions.to = rule->os_versions.from = rule->os_versions.to = "";
    rule->share.salt = "";
    for (int i = 0; i < MIRE_PLUGINS; i++)
        rule->plugins[i].salt = "";
    if (!outcome)
        outcome = read_member(bind, at, "name", &rule->name, read_text);
    if (!outcome && (!*rule->name || strlen(rule->name) > NAME_MAX_CHARS))
        return bind_wrong(bind, "needs a name of 1 to %d bytes", NAME_MAX_CHARS);
    if (!outcome)
        outcome = read_member(bind, at, "when", rule, read_when);
    if (!outcome)
        outcome = read_member(bind, at, "leave_out", &rule->leave_out, read_leave_out);
    return outcome ? outcome : read_member(bind, at, "plugins", rule, read_plugins);
}

static enum bind_outcome read_list(struct bind *bind, void *out, uint32_t at)
{
    struct rollout *rules = out;
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_ROLLOUT_RULES_MAX);
    uint32_t element = at + 1;

    if (outcome)
        return outcome;
    rules->rules = arena_array(bind->arena, json_size(bind->json, at) + 1, sizeof *rules->rules);
    if (!rules->rules)
        return MIRE_BIND_NO_MEMORY;
    for (uint32_t i = 0; i < json_size(bind->json, at); i++, element = json_next(bind->json, element)) {
        bind_enter(bind, NULL, i);
        outcome = read_rule(&rules->rules[i], bind, element);
        for (size_t k = 0; !outcome && k < i; k++)
            if (strcmp(rules->rules[k].name, rules->rules[i].name) == 0)
                outcome = bind_wrong(bind, "has the name of rule %zu", k);
        if (outcome)
            return outcome;
        rules->count++;
        bind_leave(bind);
    }
    return MIRE_BIND_OK;
}

static enum bind_outcome read_fetch(struct bind *bind, void *out, uint32_t at)
{
    return bind_number(out, bind, at, FETCH_MIN_S, FETCH_MAX_S);
}

enum bind_outcome rollout_read(struct rollout *out, struct bind *bind, uint32_t at)
{
    static const char *const names[] = {"fetch_s", "kill", "rules", NULL};
    enum bind_outcome outcome = check_members(bind, at, names);

    *out = (struct rollout){.fetch_s = 3600};
    if (!outcome && !json_member(bind->json, at, "rules"))
        return bind_wrong(bind, "needs rules");
    if (!outcome)
        outcome = read_member(bind, at, "fetch_s", &out->fetch_s, read_fetch);
    if (!outcome)
        outcome = read_member(bind, at, "kill", &out->kill, read_bool);
    return outcome ? outcome : read_member(bind, at, "rules", out, read_list);
}

int rollout_parse(struct rollout *out, struct arena *arena, const char *text)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct bind_fault where;
    struct json json;
    struct bind bind = {.json = &json, .arena = arena, .fault = &where};
    int rc = -1;

    json_init(&json);
    if (json_read(&json, &fault, text, strlen(text), &limits) == MIRE_JSON_OK &&
        rollout_read(out, &bind, 0) == MIRE_BIND_OK)
        rc = 0;
    json_fini(&json);
    return rc;
}
