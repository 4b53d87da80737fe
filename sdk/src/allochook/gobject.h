/*
 * gobject.h - object classes without being told: instances of GObject types carry their type's name.
 *
 *     app --> g_object_new (hook) --> libgobject --> g_slice_alloc0 or g_malloc0
 *                  '-- what came back: its class's name tags the block that it lies in
 *
 * The hooks stand for the public calls that make instances, patched into every module but libgobject, which binds its
 * own calls to itself. What libgobject makes for itself, such as parameter specifications, has no class.
 *
 * GLib before 2.76 hands instances out of slices, pages of its own. There a slice that libgobject takes for an
 * instance is a block by itself, unless G_SLICE=always-malloc.
 */
#ifndef MIRE_ALLOCHOOK_GOBJECT_H
#define MIRE_ALLOCHOOK_GOBJECT_H

#include "base/base.h"

/*
 * A new run of tables: what is remembered of types holds no more. Before mire__collect_begin's run notes anything.
 * Thread: as mire__collect_begin.
 */
void mire__objects_begin(void);

/*
 * Hook the calls if libgobject is there, and they are not hooked yet. Costs next to nothing while no module is loaded.
 *   heap  of a thread of ours: beside the program (platform/own.h) it is asked for libgobject, not the loader, and
 * tells of it as soon as something of libgobject's has allocated; else NULL Thread: as mire__patch_add, one at a time;
 * takes the loader's lock.
 */
struct heap;
void mire__objects_hook(const struct heap *heap);

/* Put back what the hooks stand for. Thread: as above. */
void mire__objects_unhook(void);

#endif
