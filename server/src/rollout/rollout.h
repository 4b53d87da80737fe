/*
 * rollout.h - a rollout as its author writes it: ordered rules, each for some installations.
 *
 *     {"fetch_s": 3600, "kill": false,
 *      "rules": [{"name": "inside", "when": {"channels": ["gray", "internal"]},
 *                 "plugins": {"hang": {"probability": 1}}},
 *                {"name": "public", "when": {}, "plugins": {"hang": {"probability": 0.02}}}]}
 *
 * For each plugin, the first rule that fits the installation and names the plugin decides the probability and the
 * parameters. Without such a rule the app's own options hold. The first rule that fits and has "leave_out" decides which
 * parts of the context its reports leave out. An installation gets the document of schema/wire/rollout.schema.json.
 *
 * An author's document is read strictly: a member that is not known is a mistake in writing. Pure. Thread: any.
 */
#ifndef MIRE_SERVER_ROLLOUT_H
#define MIRE_SERVER_ROLLOUT_H

#include "base/arena.h"
#include "base/text.h"
#include "json/bind.h"
#include "wire/plugin.h"

#define MIRE_ROLLOUT_RULES_MAX      64    /* of one rollout */
#define MIRE_ROLLOUT_LIST_MAX       10000 /* words of one condition; a whitelist is the longest */
#define MIRE_ROLLOUT_PARAMETERS_MAX 32
#define MIRE_ROLLOUT_TEXT_MAX       (1u << 20) /* bytes of a rollout in its author's form */

/* Words; one of them must be the installation's. */
struct rule_words {
    const char **words;
    size_t count;
    bool known; /* false: any fits. Known and empty: none does */
};

/* Versions between two, both included, in natural order (model/version.h); "" is open. */
struct rule_range {
    const char *from, *to;
};

/* Installations whose bucket for `salt` (wire/bucket.h) lies in [from, to), millionths. */
struct rule_share {
    uint32_t from, to;
    const char *salt;
    bool known;
};

struct rule_parameter {
    const char *name;
    const char *word; /* NULL: a number */
    uint64_t number;
};

struct rule_plugin {
    bool known;
    uint32_t ppm;
    const char *salt;
    struct rule_parameter *parameters;
    size_t parameter_count;
};

struct rollout_rule {
    const char *name;
    struct rule_words channels, os, classes, archs, installs;
    struct rule_range versions, os_versions;
    struct rule_share share;
    struct rule_plugin plugins[MIRE_PLUGINS];
    struct rule_words leave_out; /* parts of the context that reports leave out */
};

struct rollout {
    uint64_t fetch_s;
    bool kill;
    struct rollout_rule *rules;
    size_t count;
};

/* Facts that an installation sends. Texts; "" for an unknown one. */
struct rollout_device {
    const char *install, *version, *channel, *os, *os_version, *class, *arch;
};

/*
 * Read the rollout at a place of a document into the arena. Returns MIRE_BIND_OK, MIRE_BIND_WRONG (bind->fault has
 * place and reason), MIRE_BIND_NO_MEMORY.
 */
enum bind_outcome rollout_read(struct rollout *out, struct bind *bind, uint32_t at);

/* The same from a stored text. 0, or -1: the text was not written by rollout_write, or there is no memory. */
int rollout_parse(struct rollout *out, struct arena *arena, const char *text);

/* Write the rollout in one canonical form. */
void rollout_write(struct text *out, const struct rollout *rules);

/*
 * The rollout of an app without one: gray and internal channels and an empty whitelist have every plugin, the public is
 * sampled. Static text.
 */
extern const char *const rollout_default;

/* Does a rule fit an installation? */
bool rollout_rule_fits(const struct rollout_rule *rule, const struct rollout_device *device);

/* The rule that decides about a plugin, or NULL. */
const struct rollout_rule *rollout_decide(const struct rollout *rules, const struct rollout_device *device,
                                          enum mire__plugin plugin);

/* Write the document for an installation. */
void rollout_evaluate(struct text *out, const struct rollout *rules, int64_t version,
                      const struct rollout_device *device);

#endif
