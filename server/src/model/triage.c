/* triage.c - see triage.h. */
#include "model/triage.h"

#include "model/version.h"

bool triage_opens(const struct triage *triage, const char *version)
{
    if (!*triage->version || !*version)
        return false;
    int order = version_compare(version, triage->version);
    return triage->resolved && triage->from_next ? order > 0 : order >= 0;
}
