/*
 * modules.h - the loaded modules, learnt from /proc/self/maps and from the modules' own headers in memory.
 *
 *     maps    A: r--p 0   A: r-xp 0   A: rw-p 0   [anon] r-xp   z.apk: r--p 4000   z.apk: r-xp 4000   memfd: rwxs 0
 *     module  `------------ A ---------------'   code without   `-- z.apk!/libz.so ----------------'   code without
 *                                                  a module                                              a module
 *
 * A module is an image (ELF or PE) whose headers lie at the begin of its first mapping, at any offset of a file; the
 * mappings that its segments name belong to it. Executable mappings that belong to no module hold code that was made at
 * run time.
 *
 * The loader is never asked, for a hung thread may hold its lock. Everything is read as memory that may vanish at any
 * time. Thread: one at a time. Memory is the caller's. Signal-safe.
 */
#ifndef MIRE_UNWIND_MODULES_H
#define MIRE_UNWIND_MODULES_H

#include "unwind/cfi.h"
#include "unwind/headers.h"
#include "unwind/peek.h"

#define MIRE_STARTS_MAX 64

struct module {
    uint64_t start, end;           /* all of it */
    uint64_t text_start, text_end; /* what can be executed */
    uint64_t load;                 /* load bias */
    uint64_t eh_frame_hdr;         /* address, 0 if it has none */
    uint64_t unwind_info;          /* of a Mach-O image: address of __unwind_info, 0 if it has none (compact.h) */
    uint64_t eh_frame;             /* of a Mach-O image: address of __eh_frame */
    uint32_t unwind_info_bytes, eh_frame_bytes;
    bool is_image;  /* else code without a module */
    bool is_python; /* its file is called after Python: an interpreter may be in it */
    bool is_vm;     /* of a Java virtual machine, by its file's name */
};

/* More about a module, for those who keep a list of modules. */
struct module_facts {
    /* Borrowed until the visitor returns. "[vdso]" is one; "/x/base.apk!/libz.so" lies within a file,
     * "/memfd:a!/libz.so" in one without a name; "" is code without a module. */
    const char *path;
    uint64_t base;    /* where all of it begins in the file's own numbers */
    uint32_t id_size; /* bytes of id, 0 if it has none */
    uint8_t id[MIRE_BUILD_ID_MAX];
};
typedef void mire__module_fn(void *context, const struct module *module, const struct module_facts *facts);

/* Private: mappings in which a module may begin, and the module whose mappings are being gathered. */
struct module_start {
    uint64_t file; /* hash of inode and path; 0: anonymous memory */
    uint64_t address, size_bytes, offset;
};
struct module_gather {
    mire__module_fn *visit;
    void *context;
    struct module module; /* its mappings so far; text_end is 0 before the first executable one */
    bool is_image;        /* an image is being gathered: `headers`, `image` and `path` are its own */
    struct headers headers;
    struct module_start image;
    uint32_t starts_count; /* so far */
    struct module_start starts[MIRE_STARTS_MAX];
    char path[4096 + 256];
    uint64_t before_file, before_inode; /* of the last mapping that had a file, and its path */
    char before[4096];
};

struct modules {
    uint32_t count;
    struct module list[MIRE_IMAGES_MAX]; /* by address; code without a module is here too, with start == text_start */
    uint64_t read_ns;                    /* when the list was read */
    uint64_t signature;                  /* of the list, so that a change is noticed */
    struct peek_cache cache;
    struct cfi_cache rows;
    struct module_gather gather;
    char scratch[16 * 1024];
};

/*
 * Read the list. Caches stay valid if the list has not changed.
 *   visit  is called with every module; may be NULL
 */
void mire__modules_read(struct modules *modules, mire__module_fn *visit, void *context);

/* The module whose code holds `pc`, NULL if none. */
const struct module *mire__modules_find(const struct modules *modules, uint64_t pc);

#endif
