/*
 * manifest.h - reads the version of an Android app from the AndroidManifest.xml in its bundle (.aab) or package (.apk).
 * Internal to archive/.
 */
#ifndef MIRE_ARCHIVE_MANIFEST_H
#define MIRE_ARCHIVE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct contents_version { /* version of an app in an archive; UTF-8 */
    char version[128];    /* "": not specified */
    char build[32];       /* "": not specified */
};

/* Returns true for the name of an app's manifest. Manifests of an app's modules are ignored. */
bool manifest_is(const char *name);

/*
 * Read versionName and versionCode.
 *
 * Returns false, and leaves `out` empty, if there is no version, or if it is a reference to a resource.
 */
bool manifest_read(struct contents_version *out, const uint8_t *bytes, size_t len);

#endif
