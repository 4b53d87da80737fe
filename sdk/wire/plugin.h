/*
 * plugin.h - the plugins, which can be on or off for an installation.
 */
#ifndef MIRE_WIRE_PLUGIN_H
#define MIRE_WIRE_PLUGIN_H

/* The numbers are in the blackbox. */
enum mire__plugin { MIRE_PLUGIN_HANG, MIRE_PLUGIN_MEMORY, MIRE_PLUGIN_EXIT, MIRE_PLUGIN_SESSION, MIRE_PLUGINS };

/* "hang", "memory", "exit", "session": the names in rollout documents and in `sampling` of reports. Static. Pure. */
const char *mire__plugin_name(enum mire__plugin plugin);

#endif
