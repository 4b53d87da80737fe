/*
 * bionic.h - the part of Android's C library that libmire uses, on 64-bit processors from Android 6.0 on: types and constants as
 * its documented binary interface has them, over the kernel's own headers.
 *
 * It serves builds without an NDK (cmake/android.cmake), which write one header of each of its names that includes
 * this file. bionic.txt has the names of the functions and of the headers; tests/android/abi.py checks them against
 * Android 6.0's libraries. An NDK's headers take its place where there is one.
 */
#ifndef MIRE_ANDROID_ABI_BIONIC_H
#define MIRE_ANDROID_ABI_BIONIC_H

#define __BIONIC__        1
#define __LITTLE_ENDIAN__ 1

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/sigcontext.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/posix_types.h>
#include <linux/stat.h>

/* ---- types ---- */

typedef int32_t pid_t, clockid_t;
typedef uint32_t uid_t, gid_t, mode_t, nlink_t, id_t, useconds_t, socklen_t;
typedef uint64_t dev_t, ino_t;
typedef int64_t off_t;
typedef long ssize_t, time_t, suseconds_t;
typedef unsigned long blkcnt_t, blksize_t, nfds_t;
typedef void *timer_t;

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};

/* ---- errno.h ---- */

#include <asm/errno.h>
int *__errno(void) __attribute__((const));
#define errno (*__errno())

/* ---- string.h, strings.h, ctype.h, stdlib.h, stdio.h, inttypes.h ---- */

void *memchr(const void *bytes, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
char *strchr(const char *text, int byte);
int strcmp(const char *one, const char *other);
size_t strcspn(const char *text, const char *bytes);
char *strerror(int error);
size_t strlen(const char *text);
int strncmp(const char *one, const char *other, size_t size);
size_t strnlen(const char *text, size_t size);
char *strrchr(const char *text, int byte);
size_t strspn(const char *text, const char *bytes);
char *strstr(const char *text, const char *part);
char *strtok_r(char *restrict text, const char *restrict bytes, char **restrict next);
int strcasecmp(const char *one, const char *other);
int strncasecmp(const char *one, const char *other, size_t size);

int isalnum(int byte);
int isalpha(int byte);
int isdigit(int byte);
int isgraph(int byte);
int islower(int byte);
int isprint(int byte);
int isspace(int byte);
int isupper(int byte);
int isxdigit(int byte);
int tolower(int byte);
int toupper(int byte);

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
char *getenv(const char *name);
char *realpath(const char *restrict path, char *restrict out);
double strtod(const char *restrict text, char **restrict end);
long strtol(const char *restrict text, char **restrict end, int base);
unsigned long strtoul(const char *restrict text, char **restrict end, int base);
long long strtoll(const char *restrict text, char **restrict end, int base);
unsigned long long strtoull(const char *restrict text, char **restrict end, int base);
void abort(void) __attribute__((noreturn));
int at_quick_exit(void (*handler)(void));
int abs(int value);
void *bsearch(const void *key, const void *items, size_t count, size_t size,
              int (*compare)(const void *, const void *));

/* Start files have it where there are any. The handler of a library that is never unloaded runs at exit. */
int __cxa_atexit(void (*run)(void *), void *context, void *library);
static inline int atexit(void (*run)(void))
{
    return __cxa_atexit((void (*)(void *))run, NULL, NULL);
}

int snprintf(char *restrict out, size_t size, const char *restrict format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *restrict out, size_t size, const char *restrict format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
int sscanf(const char *restrict text, const char *restrict format, ...) __attribute__((format(scanf, 2, 3)));
int rename(const char *from, const char *to);

#define PRId64 "ld"
#define PRIu64 "lu"
#define PRIx64 "lx"
#define SCNu64 "lu"
#define SCNx64 "lx"
#define SCNu32 "u"
#define PRIu32 "u"
#define PRIx32 "x"

#define alloca(size)  __builtin_alloca(size)
#define assert(claim) ((void)0) /* as with NDEBUG, with which the library is built */

/* ---- unistd.h, fcntl.h, sys/stat.h, sys/vfs.h, sys/file.h, sys/ioctl.h, dirent.h ---- */

#define STDIN_FILENO         0
#define STDOUT_FILENO        1
#define STDERR_FILENO        2
#define F_OK                 0
#define X_OK                 1
#define W_OK                 2
#define R_OK                 4
#define SEEK_SET             0
#define SEEK_CUR             1
#define SEEK_END             2
#define SEEK_DATA            3
#define SEEK_HOLE            4
#define LOCK_SH              1
#define LOCK_EX              2
#define LOCK_NB              4
#define LOCK_UN              8
#define _SC_CLK_TCK          0x0006
#define _SC_PAGESIZE         0x0028
#define _SC_PAGE_SIZE        0x0028
#define _SC_NPROCESSORS_CONF 0x0060
#define _SC_NPROCESSORS_ONLN 0x0061
#define _SC_PHYS_PAGES       0x0062

int access(const char *path, int mode);
int close(int fd);
int faccessat(int dir, const char *path, int mode, int flags);
int fdatasync(int fd);
int fsync(int fd);
int ftruncate(int fd, off_t size);
uid_t geteuid(void);
uid_t getuid(void);
pid_t getpid(void);
int link(const char *from, const char *to);
off_t lseek(int fd, off_t offset, int whence);
ssize_t pread(int fd, void *out, size_t size, off_t offset);
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t read(int fd, void *out, size_t size);
ssize_t readlink(const char *restrict path, char *restrict out, size_t size);
int rmdir(const char *path);
int symlink(const char *to, const char *path);
long syscall(long number, ...);
long sysconf(int name);
int unlink(const char *path);
int unlinkat(int dir, const char *path, int flags);
ssize_t write(int fd, const void *bytes, size_t size);

int fcntl(int fd, int command, ...);
int open(const char *path, int flags, ...);
int openat(int dir, const char *path, int flags, ...);
int posix_fallocate(int fd, off_t offset, off_t size);
int flock(int fd, int operation);
int ioctl(int fd, int request, ...);

struct stat {
#ifdef __x86_64__
    dev_t st_dev;
    ino_t st_ino;
    unsigned long st_nlink;
    mode_t st_mode;
    uid_t st_uid;
    gid_t st_gid;
    uint32_t pad;
    dev_t st_rdev;
    off_t st_size;
    long st_blksize;
    long st_blocks;
    struct timespec st_atim, st_mtim, st_ctim;
    long pads[3];
#else
    dev_t st_dev;
    ino_t st_ino;
    mode_t st_mode;
    nlink_t st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    unsigned long pad;
    off_t st_size;
    int st_blksize;
    int pad_too;
    long st_blocks;
    struct timespec st_atim, st_mtim, st_ctim;
    uint32_t pads[2];
#endif
};
#define st_mtime st_mtim.tv_sec

int fstat(int fd, struct stat *out);
int fstatat(int dir, const char *restrict path, struct stat *restrict out, int flags);
int lstat(const char *restrict path, struct stat *restrict out);
int stat(const char *restrict path, struct stat *restrict out);
int mkdir(const char *path, mode_t mode);
int utimensat(int dir, const char *path, const struct timespec times[2], int flags);
#define UTIME_NOW 0x3fffffff

struct statfs {
    uint64_t f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree;
    struct {
        int value[2];
    } f_fsid;
    uint64_t f_namelen, f_frsize, f_flags, spare[4];
};
int statfs(const char *path, struct statfs *out);

struct dirent {
    ino_t d_ino;
    off_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[256];
};
#define DT_UNKNOWN 0
#define DT_DIR     4
#define DT_REG     8
#define DT_LNK     10
typedef struct DIR DIR;
int closedir(DIR *dir);
int dirfd(DIR *dir);
DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir);

#define major(device) ((unsigned)((((device) >> 32) & 0xfffff000) | (((device) >> 8) & 0xfff)))
#define minor(device) ((unsigned)((((device) >> 12) & 0xffffff00) | ((device)&0xff)))

/* ---- signal.h, ucontext.h ---- */

typedef struct {
    unsigned long sig[1];
} sigset_t;
#include <asm-generic/siginfo.h>

#define SIGHUP       1
#define SIGINT       2
#define SIGQUIT      3
#define SIGILL       4
#define SIGTRAP      5
#define SIGABRT      6
#define SIGBUS       7
#define SIGFPE       8
#define SIGKILL      9
#define SIGUSR1      10
#define SIGSEGV      11
#define SIGUSR2      12
#define SIGPIPE      13
#define SIGALRM      14
#define SIGTERM      15
#define SIGCHLD      17
#define SIGCONT      18
#define SIGSTOP      19
#define SIGURG       23
#define SIGPROF      27
#define SIGSYS       31
#define NSIG         65
#define SIGRTMIN     __libc_current_sigrtmin()
#define SIGRTMAX     __libc_current_sigrtmax()
#define SIG_DFL      ((void (*)(int))0)
#define SIG_IGN      ((void (*)(int))1)
#define SIG_BLOCK    0
#define SIG_UNBLOCK  1
#define SIG_SETMASK  2
#define SA_NOCLDSTOP 0x00000001
#define SA_SIGINFO   0x00000004
#define SA_ONSTACK   0x08000000
#define SA_RESTART   0x10000000
#define SA_NODEFER   0x40000000
#define SA_RESETHAND 0x80000000
#define SA_RESTORER  0x04000000
#define SS_ONSTACK   1
#define SS_DISABLE   2

struct sigaction {
    int sa_flags;
    union {
        void (*sa_handler)(int);
        void (*sa_sigaction)(int, siginfo_t *, void *);
    };
    sigset_t sa_mask;
    void (*sa_restorer)(void);
};
typedef struct {
    void *ss_sp;
    int ss_flags;
    size_t ss_size;
} stack_t;

int __libc_current_sigrtmin(void);
int __libc_current_sigrtmax(void);
int sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int sigaddset(sigset_t *set, int signal);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigismember(const sigset_t *set, int signal);

#ifdef __x86_64__
enum {
    REG_R8,
    REG_R9,
    REG_R10,
    REG_R11,
    REG_R12,
    REG_R13,
    REG_R14,
    REG_R15,
    REG_RDI,
    REG_RSI,
    REG_RBP,
    REG_RBX,
    REG_RDX,
    REG_RAX,
    REG_RCX,
    REG_RSP,
    REG_RIP,
    REG_EFL,
    REG_CSGSFS,
    REG_ERR,
    REG_TRAPNO,
    REG_OLDMASK,
    REG_CR2
};
typedef long greg_t;
typedef struct {
    greg_t gregs[23];
    void *fpregs;
    unsigned long reserved[8];
} mcontext_t;
typedef struct ucontext {
    unsigned long uc_flags;
    struct ucontext *uc_link;
    stack_t uc_stack;
    mcontext_t uc_mcontext;
    sigset_t uc_sigmask;
    char fpregs_memory[512];
} ucontext_t;
#else
typedef struct sigcontext mcontext_t;
typedef struct ucontext {
    unsigned long uc_flags;
    struct ucontext *uc_link;
    stack_t uc_stack;
    sigset_t uc_sigmask;
    char pad[128 - sizeof(sigset_t)];
    mcontext_t uc_mcontext;
} ucontext_t;
#endif

/* ---- time.h, poll.h, sys/select.h, sys/epoll.h, sys/eventfd.h, sched.h ---- */

#define CLOCK_REALTIME           0
#define CLOCK_MONOTONIC          1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID  3
#define CLOCK_MONOTONIC_COARSE   6
#define CLOCK_BOOTTIME           7
#define TIMER_ABSTIME            1

struct itimerspec {
    struct timespec it_interval, it_value;
};
int clock_gettime(clockid_t clock, struct timespec *out);
int nanosleep(const struct timespec *time, struct timespec *left);
time_t time(time_t *out);

#include <asm/poll.h>
#include <linux/eventpoll.h>
#define FD_SETSIZE 1024
#define NFDBITS    (8 * (int)sizeof(fd_mask))
typedef unsigned long fd_mask;
typedef struct {
    fd_mask fds_bits[FD_SETSIZE / 64];
} fd_set;
int epoll_wait(int epoll, struct epoll_event *events, int cap, int timeout_ms);
int epoll_pwait(int epoll, struct epoll_event *events, int cap, int timeout_ms, const sigset_t *mask);
int poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *timeout);
int pselect(int count, fd_set *read, fd_set *write, fd_set *except, const struct timespec *timeout,
            const sigset_t *mask);
int eventfd(unsigned initial, int flags);
#define EFD_CLOEXEC  02000000
#define EFD_NONBLOCK 04000
#include <linux/sched.h>
int sched_yield(void);

/* ---- pthread.h ---- */

typedef long pthread_t;
typedef int pthread_key_t, pthread_once_t;
typedef struct {
    uint32_t flags;
    void *stack_base;
    size_t stack_size, guard_size;
    int32_t sched_policy, sched_priority;
    char reserved[16];
} pthread_attr_t;
typedef struct {
    int32_t words[10];
} pthread_mutex_t;
typedef struct {
    int32_t words[12];
} pthread_cond_t;
typedef long pthread_mutexattr_t, pthread_condattr_t;
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER \
    {                             \
        {                         \
            0                     \
        }                         \
    }
#define PTHREAD_CREATE_DETACHED 1

int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_getstack(const pthread_attr_t *attributes, void **base, size_t *size);
int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size);
int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size);
int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int pthread_detach(pthread_t thread);
int pthread_equal(pthread_t one, pthread_t other);
int pthread_getattr_np(pthread_t thread, pthread_attr_t *out);
void *pthread_getspecific(pthread_key_t key);
int pthread_join(pthread_t thread, void **out);
int pthread_key_create(pthread_key_t *out, void (*destroy)(void *));
int pthread_key_delete(pthread_key_t key);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_once(pthread_once_t *once, void (*run)(void));
pthread_t pthread_self(void);
int pthread_setname_np(pthread_t thread, const char *name);
int pthread_setspecific(pthread_key_t key, const void *value);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);

/* ---- sys/mman.h, sys/uio.h, sys/prctl.h, sys/resource.h, sys/auxv.h, sys/utsname.h, sys/socket.h ---- */

#include <linux/auxvec.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/uio.h>
#define MAP_FAILED ((void *)-1)
int madvise(void *memory, size_t size, int advice);
int mincore(void *memory, size_t size, unsigned char *out);
void *mmap(void *memory, size_t size, int protection, int flags, int fd, off_t offset);
int mprotect(void *memory, size_t size, int protection);
void *mremap(void *memory, size_t size, size_t new_size, int flags, ...);
int munmap(void *memory, size_t size);
int prctl(int option, ...);

struct rlimit {
    unsigned long rlim_cur, rlim_max;
};
#define RLIMIT_FSIZE   1
#define RLIMIT_STACK   3
#define RLIMIT_NOFILE  7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS      9
#define RLIM_INFINITY  (~0UL)
#define PRIO_PROCESS   0
int getrlimit(int resource, struct rlimit *out);
int setpriority(int which, id_t who, int priority);
unsigned long getauxval(unsigned long type);

struct utsname {
    char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};
int uname(struct utsname *out);

struct msghdr;
struct mmsghdr;
struct sockaddr;
#define AF_INET      2
#define AF_UNIX      1
#define SOCK_STREAM  1
#define SOCK_DGRAM   2
#define SOCK_CLOEXEC 02000000
int socket(int domain, int type, int protocol);
ssize_t recvfrom(int fd, void *out, size_t size, int flags, struct sockaddr *from, socklen_t *from_size);
ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t to_size);

/* ---- elf.h, link.h, dlfcn.h ---- */

#define ElfW(type) Elf64_##type
typedef uint64_t Elf64_Relr;
#define R_X86_64_64         1
#define R_X86_64_GLOB_DAT   6
#define R_X86_64_JUMP_SLOT  7
#define R_AARCH64_ABS64     257
#define R_AARCH64_GLOB_DAT  1025
#define R_AARCH64_JUMP_SLOT 1026
#ifndef DT_RUNPATH
#define DT_RUNPATH 29
#endif
#define NT_GNU_BUILD_ID     3
#define DT_RELRSZ           35
#define DT_RELR             36
#define DT_RELRENT          37
#define DT_GNU_HASH         0x6ffffef5
#define STT_GNU_IFUNC       10
#define STN_UNDEF           0
#define ELF64_ST_TYPE(info) ((info)&15)
#define ELF64_ST_BIND(info) ((info) >> 4)
#ifndef PT_GNU_EH_FRAME
#define PT_GNU_EH_FRAME 0x6474e550
#endif
#ifndef EM_AARCH64
#define EM_AARCH64 183
#endif
#ifndef EM_X86_64
#define EM_X86_64 62
#endif

struct dl_phdr_info {
    Elf64_Addr dlpi_addr;
    const char *dlpi_name;
    const Elf64_Phdr *dlpi_phdr;
    Elf64_Half dlpi_phnum;
    unsigned long long dlpi_adds, dlpi_subs; /* from Android 11 on: see the size that the callback is told */
    size_t dlpi_tls_modid;
    void *dlpi_tls_data;
};
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *info, size_t size, void *context), void *context);

struct link_map {
    Elf64_Addr l_addr;
    char *l_name;
    Elf64_Dyn *l_ld;
    struct link_map *l_next, *l_prev;
};
struct r_debug {
    int32_t r_version;
    struct link_map *r_map;
    Elf64_Addr r_brk;
    enum { RT_CONSISTENT, RT_ADD, RT_DELETE } r_state;
    Elf64_Addr r_ldbase;
};

typedef struct {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} Dl_info;
#define RTLD_LOCAL    0
#define RTLD_LAZY     1
#define RTLD_NOW      2
#define RTLD_NOLOAD   4
#define RTLD_GLOBAL   0x100
#define RTLD_NODELETE 0x1000
#define RTLD_DEFAULT  ((void *)0)
#define RTLD_NEXT     ((void *)-1L)
int dladdr(const void *address, Dl_info *out);
int dlclose(void *handle);
char *dlerror(void);
void *dlopen(const char *path, int flags);
void *dlsym(void *handle, const char *name);

/* ---- sys/system_properties.h ---- */

#define PROP_VALUE_MAX 92
int __system_property_get(const char *name, char *value);

/* ---- the sizes that the interface has ---- */

_Static_assert(sizeof(struct dirent) == 280 && offsetof(struct dirent, d_name) == 19, "dirent");
_Static_assert(sizeof(struct sigaction) == 32 && offsetof(struct sigaction, sa_mask) == 16, "sigaction");
_Static_assert(sizeof(siginfo_t) == 128, "siginfo_t");
_Static_assert(sizeof(pthread_attr_t) == 56, "pthread_attr_t");
_Static_assert(sizeof(struct statfs) == 120, "statfs");
_Static_assert(sizeof(struct dl_phdr_info) == 64 && offsetof(struct dl_phdr_info, dlpi_adds) == 32, "dl_phdr_info");
_Static_assert(sizeof(struct utsname) == 390, "utsname");
#ifdef __x86_64__
_Static_assert(sizeof(struct stat) == 144 && offsetof(struct stat, st_size) == 48, "stat");
_Static_assert(offsetof(ucontext_t, uc_mcontext) == 40 && offsetof(ucontext_t, uc_sigmask) == 296, "ucontext_t");
_Static_assert(sizeof(struct epoll_event) == 12, "epoll_event");
#else
_Static_assert(sizeof(struct stat) == 128 && offsetof(struct stat, st_size) == 48, "stat");
_Static_assert(offsetof(ucontext_t, uc_mcontext) == 176 && offsetof(ucontext_t, uc_sigmask) == 40, "ucontext_t");
_Static_assert(sizeof(struct epoll_event) == 16, "epoll_event");
#endif

#endif
