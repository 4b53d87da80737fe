/*
 * context.h - the app's facts of the moment: the device and its condition, the user, the scene, tags, feature flags
 * and breadcrumbs.
 *
 *     mire_options_set_device(options, "Pixel 8", NULL);
 *     mire_set_user("4711", MIRE_USER_HASHED);
 *     mire_set_tag("plan", "trial");
 *     mire_set_flag("new-cart", "on");
 *     mire_set_scene("CartActivity");
 *     mire_breadcrumb("opened the cart");
 *
 * Every report of a hang, of memory or of a kill carries the values of the instant when the report was made or the
 * process died: the values are in a mapped file, which survives SIGKILL. They can be set before mire_start, survive
 * mire_stop, and are inherited by a forked child.
 *
 * Texts are UTF-8 and copied; longer ones are cut between two characters, and control characters become spaces.
 * Privacy: reports carry all values except those that the rollout excludes. Of a user's id they carry only the hash,
 * unless the app asks for the id itself.
 *
 * Thread: any, except of the options.  Signal handler: mire_breadcrumb and mire_set_app_state only.
 */
#ifndef MIRE_CONTEXT_H
#define MIRE_CONTEXT_H

#include "mire/mire.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Set the device and its operating system, if the app knows more than the library: on Linux the library reads both, on
 * Android the Java layer sets both.
 *
 *   model    1..128 bytes, no control characters: "Pixel 8"
 *   type     the class of the device; devices of one class have similar capacity. NULL: by the size of the memory ("6gb")
 *   name     of the system: "android", "ios", "linux"
 *   version  of the system: "14"
 *
 * Return MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_device(mire_options *options, const char *model, const char *type);
MIRE_API enum mire_err mire_options_set_os(mire_options *options, const char *name, const char *version);

/* How visible the app is to its user. */
enum mire_app_state {
    MIRE_APP_UNKNOWN = 0,
    MIRE_APP_FOREGROUND = 1,  /* takes the user's input */
    MIRE_APP_VISIBLE = 2,     /* on the screen without the input: below a dialog of another app, in a split screen */
    MIRE_APP_PERCEPTIBLE = 3, /* not on the screen, but noticed: it plays music, or runs a foreground service */
    MIRE_APP_BACKGROUND = 4
};

/*
 * Set how visible the app is. The first two states count as the foreground of mire_set_foreground, which this call
 * replaces; that call sets MIRE_APP_FOREGROUND or MIRE_APP_BACKGROUND. Other values have no effect.
 */
MIRE_API void mire_set_app_state(enum mire_app_state state);

/*
 * Set the current scene: a screen, an activity, a level of a game. It stays until the next call.
 *
 *   name  1..127 bytes; NULL or "": none
 *
 * Returns MIRE_OK, MIRE_E_TIMEOUT (another thread's call did not end within 100 ms: it is stopped by a debugger).
 */
MIRE_API enum mire_err mire_set_scene(const char *name);

/*
 * Set a tag, replace its value, or remove it. At most 40 tags, flags and conditions of the device exist at a
 * time.
 *
 *   name   1..32 bytes of a-z, A-Z, 0-9, "_", "-" and "."
 *   value  1..127 bytes; NULL or "" removes the tag
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_FULL, MIRE_E_TIMEOUT.
 */
MIRE_API enum mire_err mire_set_tag(const char *name, const char *value);

/*
 * Set a feature flag, replace its value, or remove it. A flag is a tag whose name begins with "flag.".
 *
 *   name   1..27 bytes, as the name of a tag
 *   value  "on", "off" or a variant's name, 1..127 bytes; NULL or "" removes the flag
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_FULL, MIRE_E_TIMEOUT.
 */
MIRE_API enum mire_err mire_set_flag(const char *name, const char *value);

/* How warm the device is, as Android and Apple's systems report it to apps. */
enum mire_thermal {
    MIRE_THERMAL_UNKNOWN = 0,
    MIRE_THERMAL_NOMINAL = 1, /* Android: none */
    MIRE_THERMAL_FAIR = 2,    /* light, moderate */
    MIRE_THERMAL_SERIOUS = 3, /* severe */
    MIRE_THERMAL_CRITICAL = 4 /* critical and above */
};

enum mire_orientation { MIRE_ORIENTATION_UNKNOWN = 0, MIRE_ORIENTATION_PORTRAIT = 1, MIRE_ORIENTATION_LANDSCAPE = 2 };

/*
 * Set a condition of the device, which reports carry as tags: battery (percent) and charging (true, false), thermal,
 * orientation. mire_set_network sets the tag network. The library itself sets free_memory (of the machine, on Apple's
 * systems of the app's limit) and, except on Apple's systems, free_disk (of the store's disk), in MiB, at most 10 s old.
 *
 *   percent   0..100; another value removes both tags
 *   charging  0: no
 *   thermal, orientation   UNKNOWN removes the tag
 *
 * Return MIRE_OK, MIRE_E_RANGE, MIRE_E_FULL, MIRE_E_TIMEOUT.
 */
MIRE_API enum mire_err mire_set_battery(int percent, int charging);
MIRE_API enum mire_err mire_set_thermal(enum mire_thermal thermal);
MIRE_API enum mire_err mire_set_orientation(enum mire_orientation orientation);

/* The form in which a user's id leaves the device. */
enum mire_user_form {
    MIRE_USER_HASHED = 0, /* 32 hex digits: the first half of SHA-256 over "mire:" and the id */
    MIRE_USER_PLAIN = 1   /* the id itself */
};

/*
 * Set the user. The hash is the same on all devices of the user, so that reports of one user are found together. An id
 * that can be guessed, such as a phone number, can be found by hashing all of them.
 *
 *   id  NULL or "": none. The whole id is hashed; a plain id has 1..126 bytes
 *
 * Returns MIRE_OK, MIRE_E_RANGE (form), MIRE_E_TIMEOUT.
 */
MIRE_API enum mire_err mire_set_user(const char *id, enum mire_user_form form);

/*
 * Note a step of the user or of the app. The last 64 are kept. Takes about a microsecond, and no lock.
 *
 *   text  1..95 bytes; NULL and "" have no effect
 */
MIRE_API void mire_breadcrumb(const char *text);

#ifdef __cplusplus
}
#endif
#endif
