/*
 * manifest.h - which version an Android app is, by the AndroidManifest.xml in its bundle (.aab) or package (.apk).
 * Inside archive/ only.
 */
#ifndef MIRE_ARCHIVE_MANIFEST_H
#define MIRE_ARCHIVE_MANIFEST_H

#include "archive/contents.h"

/* Is this the app's manifest, by its name in the archive? Those of its parts are not. */
bool manifest_is(const char *name);

/*
 * Read versionName and versionCode.
 *
 * Returns false if it tells no version, or only by a resource, whose value lies elsewhere; `out` is then empty.
 */
bool manifest_read(struct contents_version *out, const uint8_t *bytes, size_t len);

#endif
