/*
 * gobject.h - classes of objects: instances are tagged with the name of their class; on Apple's systems by
 * objects_apple.c, elsewhere those of GObject with their type.
 *
 *     app --> g_object_new (hook) --> libgobject --> g_slice_alloc0 or g_malloc0
 *                  '-- tags the block of the instance that comes back
 *
 * The hooks replace the public calls that make instances. They are patched into every module but libgobject, which
 * binds its own calls to itself; so what libgobject makes for itself, such as parameter specifications, has no class.
 *
 * GLib before 2.76 takes instances from slices, in pages of its own. There a slice that libgobject takes for an
 * instance is recorded as a block, unless G_SLICE=always-malloc.
 */
#ifndef MIRE_ALLOCHOOK_GOBJECT_H
#define MIRE_ALLOCHOOK_GOBJECT_H

#include "base/base.h"

/*
 * A new run of tables begins: forget the classes of types. Call it before mire__collect_begin.
 * Thread: as mire__collect_begin.
 */
void mire__objects_begin(void);

/*
 * Hook the calls, if libgobject is loaded and they are not hooked yet. Cheap while no module is loaded.
 *   heap  the tables, on a thread of the SDK: where a second C library is in use (platform/own.h), they say whether
 *         libgobject has allocated, and the loader is not asked. NULL on a thread of the program
 * Thread: as mire__patch_add, one at a time; takes the loader's lock.
 */
struct heap;
void mire__objects_hook(const struct heap *heap);

/*
 * Name the classes of the objects among the live blocks, on a system whose objects begin with their class
 * (objects_apple.c); elsewhere no effect. Thread: worker.
 */
void mire__objects_sweep(struct heap *heap);

/* Take the hooks out. Thread: as above. */
void mire__objects_unhook(void);

#endif
