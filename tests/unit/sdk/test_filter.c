/* test_filter.c - the SDK's evaluation of a seccomp filter, compared with the kernel's. */
#include "platform/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/emulator.h"

#define NUMBER    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ANSWER(k) BPF_STMT(BPF_RET | BPF_K, k)
#define IS(name)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1)
#define REFUSE    (SECCOMP_RET_ERRNO | EDOM)

static void judge(struct filter_verdict *out, struct sock_filter *program, size_t count)
{
    const struct sock_fprog given = {(unsigned short)count, program};

    mire__filter_judge(out, &given);
}

static void a_list_of_few_does_not_let_us(void **state)
{
    struct sock_filter list[] = {
        NUMBER, IS(read), ANSWER(SECCOMP_RET_ALLOW), IS(rt_sigreturn), ANSWER(SECCOMP_RET_ALLOW), ANSWER(REFUSE)};
    struct filter_verdict verdict;

    (void)state;
    judge(&verdict, list, MIRE_COUNT(list));
    assert_true(verdict.readable && !verdict.lets_us && verdict.returns);
    list[4].k = SECCOMP_RET_KILL_PROCESS;
    judge(&verdict, list, MIRE_COUNT(list));
    assert_true(verdict.readable && !verdict.lets_us && !verdict.returns);
}

static void what_we_can_do_without_may_be_refused_but_not_end_us(void **state)
{
    struct sock_filter list[] = {NUMBER,
                                 IS(process_vm_readv),
                                 ANSWER(REFUSE),
                                 IS(membarrier),
                                 ANSWER(SECCOMP_RET_LOG),
                                 IS(ptrace),
                                 ANSWER(SECCOMP_RET_KILL_PROCESS),
                                 ANSWER(SECCOMP_RET_ALLOW)};
    struct filter_verdict verdict;

    (void)state;
    judge(&verdict, list, MIRE_COUNT(list));
    assert_true(verdict.lets_us);
    list[2].k = SECCOMP_RET_KILL_PROCESS;
    judge(&verdict, list, MIRE_COUNT(list));
    assert_false(verdict.lets_us);
    list[2].k = SECCOMP_RET_TRAP;
    judge(&verdict, list, MIRE_COUNT(list));
    assert_false(verdict.lets_us);
}

static void what_cannot_be_read_is_the_kernels_to_refuse(void **state)
{
    const struct sock_fprog far = {5, (struct sock_filter *)8}, none = {0, (struct sock_filter *)8};
    struct filter_verdict verdict;

    (void)state;
    mire__filter_judge(&verdict, NULL);
    assert_false(verdict.readable);
    mire__filter_judge(&verdict, &far);
    assert_false(verdict.readable);
    mire__filter_judge(&verdict, &none);
    assert_false(verdict.readable);
}

/* The kernel's result for close(-7) under the filter: ALLOW, ERRNO with its number, or KILL. -1: the filter is
 * refused. */
static long ask_kernel(struct sock_filter *program, size_t count)
{
    const struct sock_fprog given = {(unsigned short)count, program};
    pid_t child = fork();
    int status;

    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &given) != 0)
            syscall(SYS_exit_group, 200);
        syscall(SYS_exit_group, syscall(SYS_close, -7) == 0 ? 0 : errno);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return SECCOMP_RET_KILL_PROCESS;
    if (WEXITSTATUS(status) == 200)
        return -1;
    return WEXITSTATUS(status) == EBADF ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | WEXITSTATUS(status);
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33);
}

/* Instructions that the kernel accepts, and some that it may refuse. */
static void fill(struct sock_filter *program, size_t count, uint64_t *seed)
{
    static const uint16_t codes[] = {BPF_LD | BPF_W | BPF_ABS,
                                     BPF_LD | BPF_IMM,
                                     BPF_LDX | BPF_IMM,
                                     BPF_LD | BPF_MEM,
                                     BPF_ST,
                                     BPF_STX,
                                     BPF_LD | BPF_W | BPF_LEN,
                                     BPF_ALU | BPF_ADD | BPF_K,
                                     BPF_ALU | BPF_SUB | BPF_X,
                                     BPF_ALU | BPF_AND | BPF_K,
                                     BPF_ALU | BPF_OR | BPF_X,
                                     BPF_ALU | BPF_XOR | BPF_K,
                                     BPF_ALU | BPF_LSH | BPF_K,
                                     BPF_ALU | BPF_RSH | BPF_K,
                                     BPF_ALU | BPF_MUL | BPF_K,
                                     BPF_ALU | BPF_DIV | BPF_K,
                                     BPF_ALU | BPF_NEG,
                                     BPF_MISC | BPF_TAX,
                                     BPF_MISC | BPF_TXA,
                                     BPF_JMP | BPF_JA,
                                     BPF_JMP | BPF_JEQ | BPF_K,
                                     BPF_JMP | BPF_JGT | BPF_X,
                                     BPF_JMP | BPF_JGE | BPF_K,
                                     BPF_JMP | BPF_JSET | BPF_K};

    for (size_t i = 0; i < count - 4; i++) {
        uint16_t code = codes[next_random(seed) % MIRE_COUNT(codes)];
        uint32_t left = (uint32_t)(count - 5 - i), k = next_random(seed) % 8;

        if (BPF_CLASS(code) == BPF_LD && BPF_MODE(code) == BPF_ABS)
            k = 4 * (next_random(seed) % 2); /* number, arch */
        program[i] = (struct sock_filter)BPF_JUMP(code, k, 0, 0);
        if (BPF_CLASS(code) == BPF_JMP && BPF_OP(code) == BPF_JA)
            program[i].k = left ? k % left : 0;
        else if (BPF_CLASS(code) == BPF_JMP && left) {
            program[i].jt = (uint8_t)(next_random(seed) % left % 8);
            program[i].jf = (uint8_t)(next_random(seed) % left % 8);
        }
    }
    program[count - 4] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, next_random(seed) % 16, 0, 1);
    program[count - 3] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
    program[count - 2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
    program[count - 1] = (struct sock_filter)ANSWER(REFUSE);
}

/* The filter gives close and exit_group the same result. Only close is compared, so exit_group is allowed first. */
static void filters_are_run_as_the_kernel_does(void **state)
{
    const struct filter_call call = {SYS_close, {(uint64_t)-7}};
    uint64_t seed = 20261126;
    size_t compared = 0, refused = 0;

    (void)state;
    skip_if_emulated("the kernel filters the emulator's own system calls");
    for (int round = 0; round < 300; round++) {
        struct sock_filter program[24] = {NUMBER, IS(exit_group), ANSWER(SECCOMP_RET_ALLOW)};
        long kernel;

        fill(program + 3, MIRE_COUNT(program) - 3, &seed);
        kernel = ask_kernel(program, MIRE_COUNT(program));
        if (kernel < 0)
            continue;
        compared++;
        refused += kernel != SECCOMP_RET_ALLOW;
        assert_int_equal(mire__filter_run(program, MIRE_COUNT(program), &call), kernel);
    }
    assert_true(compared > 100 && refused > 20 && refused < compared - 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_few_does_not_let_us),
        cmocka_unit_test(what_we_can_do_without_may_be_refused_but_not_end_us),
        cmocka_unit_test(what_cannot_be_read_is_the_kernels_to_refuse),
        cmocka_unit_test(filters_are_run_as_the_kernel_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
