/*
 * syscalls.c - the system calls that put a thread to sleep, by architecture.
 *
 * Numbers: Linux' arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl, include/uapi/asm-generic/unistd.h (arm64),
 * arch/arm/tools/syscall.tbl. A number never changes its meaning.
 */
#include "feature/syscalls.h"

#include <stddef.h>
#include <string.h>

enum { X86_64, ARM64, ARM, X86, ARCH_COUNT };

static const struct {
    const char *name;
    int arch;
} arches[] = {
    {"x86_64", X86_64}, {"arm64", ARM64}, {"aarch64", ARM64}, {"arm", ARM}, {"x86", X86}, {"i386", X86}, {"i686", X86},
};

#define NONE (-1)

/* clang-format off */
static const struct {
    enum syscall_kind kind;
    int16_t numbers[ARCH_COUNT];
} table[] = {
    /*                    x86_64 arm64  arm   x86 */
    {MIRE_SYSCALL_FUTEX, {   202,   98,  240,  240}}, /* futex */
    {MIRE_SYSCALL_FUTEX, {  NONE, NONE,  422,  422}}, /* futex_time64 */
    {MIRE_SYSCALL_LOCK,  {    73,   32,  143,  143}}, /* flock */
    {MIRE_SYSCALL_LOCK,  {    72,   25,   55,   55}}, /* fcntl: sleeps for F_SETLKW */
    {MIRE_SYSCALL_LOCK,  {  NONE, NONE,  221,  221}}, /* fcntl64 */
    {MIRE_SYSCALL_IO,    {     0,   63,    3,    3}}, /* read */
    {MIRE_SYSCALL_IO,    {     1,   64,    4,    4}}, /* write */
    {MIRE_SYSCALL_IO,    {    17,   67,  180,  180}}, /* pread64 */
    {MIRE_SYSCALL_IO,    {    18,   68,  181,  181}}, /* pwrite64 */
    {MIRE_SYSCALL_IO,    {    19,   65,  145,  145}}, /* readv */
    {MIRE_SYSCALL_IO,    {    20,   66,  146,  146}}, /* writev */
    {MIRE_SYSCALL_IO,    {   295,   69,  361,  333}}, /* preadv */
    {MIRE_SYSCALL_IO,    {   296,   70,  362,  334}}, /* pwritev */
    {MIRE_SYSCALL_IO,    {     2, NONE,    5,    5}}, /* open */
    {MIRE_SYSCALL_IO,    {   257,   56,  322,  295}}, /* openat */
    {MIRE_SYSCALL_IO,    {     3,   57,    6,    6}}, /* close */
    {MIRE_SYSCALL_IO,    {     5,   80,  108,  108}}, /* fstat */
    {MIRE_SYSCALL_IO,    {     4, NONE,  195,  195}}, /* stat, stat64 */
    {MIRE_SYSCALL_IO,    {     6, NONE,  196,  196}}, /* lstat, lstat64 */
    {MIRE_SYSCALL_IO,    {   262,   79,  327,  300}}, /* newfstatat, fstatat64 */
    {MIRE_SYSCALL_IO,    {   332,  291,  397,  383}}, /* statx */
    {MIRE_SYSCALL_IO,    {    74,   82,  118,  118}}, /* fsync */
    {MIRE_SYSCALL_IO,    {    75,   83,  148,  148}}, /* fdatasync */
    {MIRE_SYSCALL_IO,    {   162,   81,   36,   36}}, /* sync */
    {MIRE_SYSCALL_IO,    {   306,  267,  373,  344}}, /* syncfs */
    {MIRE_SYSCALL_IO,    {    26,  227,  144,  144}}, /* msync */
    {MIRE_SYSCALL_IO,    {   277,   84,  341,  314}}, /* sync_file_range */
    {MIRE_SYSCALL_IO,    {   217,   61,  217,  220}}, /* getdents64 */
    {MIRE_SYSCALL_IO,    {    87, NONE,   10,   10}}, /* unlink */
    {MIRE_SYSCALL_IO,    {   263,   35,  328,  301}}, /* unlinkat */
    {MIRE_SYSCALL_IO,    {    82, NONE,   38,   38}}, /* rename */
    {MIRE_SYSCALL_IO,    {   264,   38,  329,  302}}, /* renameat */
    {MIRE_SYSCALL_IO,    {   316,  276,  382,  353}}, /* renameat2 */
    {MIRE_SYSCALL_IO,    {   258,   34,  323,  296}}, /* mkdirat */
    {MIRE_SYSCALL_IO,    {    77,   46,   93,   93}}, /* ftruncate */
    {MIRE_SYSCALL_IO,    {   285,   47,  352,  324}}, /* fallocate */
    {MIRE_SYSCALL_IO,    {    40,   71,  187,  187}}, /* sendfile */
    {MIRE_SYSCALL_IO,    {   326,  285,  391,  377}}, /* copy_file_range */
    {MIRE_SYSCALL_IO,    {    45,  207,  292,  371}}, /* recvfrom */
    {MIRE_SYSCALL_IO,    {    47,  212,  297,  372}}, /* recvmsg */
    {MIRE_SYSCALL_IO,    {    44,  206,  290,  369}}, /* sendto */
    {MIRE_SYSCALL_IO,    {    46,  211,  296,  370}}, /* sendmsg */
    {MIRE_SYSCALL_IO,    {    42,  203,  283,  362}}, /* connect */
    {MIRE_SYSCALL_IO,    {   426,  426,  426,  426}}, /* io_uring_enter */
    {MIRE_SYSCALL_SLEEP, {    35,  101,  162,  162}}, /* nanosleep */
    {MIRE_SYSCALL_SLEEP, {   230,  115,  265,  267}}, /* clock_nanosleep */
    {MIRE_SYSCALL_SLEEP, {  NONE, NONE,  407,  407}}, /* clock_nanosleep_time64 */
    {MIRE_SYSCALL_WAIT,  {     7, NONE,  168,  168}}, /* poll */
    {MIRE_SYSCALL_WAIT,  {   271,   73,  336,  309}}, /* ppoll */
    {MIRE_SYSCALL_WAIT,  {    23, NONE,  142,  142}}, /* select */
    {MIRE_SYSCALL_WAIT,  {   270,   72,  335,  308}}, /* pselect6 */
    {MIRE_SYSCALL_WAIT,  {   232, NONE,  252,  256}}, /* epoll_wait */
    {MIRE_SYSCALL_WAIT,  {   281,   22,  346,  319}}, /* epoll_pwait */
    {MIRE_SYSCALL_WAIT,  {   441,  441,  441,  441}}, /* epoll_pwait2 */
    {MIRE_SYSCALL_WAIT,  {    43,  202,  285, NONE}}, /* accept */
    {MIRE_SYSCALL_WAIT,  {   288,  242,  366,  364}}, /* accept4 */
    {MIRE_SYSCALL_WAIT,  {    61,  260,  114,  114}}, /* wait4 */
    {MIRE_SYSCALL_WAIT,  {   247,   95,  280,  284}}, /* waitid */
    {MIRE_SYSCALL_WAIT,  {    58, NONE,  190,  190}}, /* vfork: until the child executes or ends, also of the next two */
    {MIRE_SYSCALL_WAIT,  {    56,  220,  120,  120}}, /* clone */
    {MIRE_SYSCALL_WAIT,  {   435,  435,  435,  435}}, /* clone3 */
    {MIRE_SYSCALL_WAIT,  {   128,  137,  177,  177}}, /* rt_sigtimedwait */
    {MIRE_SYSCALL_WAIT,  {   130,  133,  179,  179}}, /* rt_sigsuspend */
    {MIRE_SYSCALL_WAIT,  {    34, NONE,   29,   29}}, /* pause */
};
/* clang-format on */

enum syscall_kind syscall_kind(const char *arch, int32_t number)
{
    for (size_t a = 0; number >= 0 && a < sizeof arches / sizeof *arches; a++) {
        if (strcmp(arches[a].name, arch) != 0)
            continue;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            if (table[i].numbers[arches[a].arch] == number)
                return table[i].kind;
    }
    return MIRE_SYSCALL_OTHER;
}
