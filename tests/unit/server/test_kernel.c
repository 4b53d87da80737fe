/* Logs of the kernel: words in names identify idle code, and with it the function to blame. */
#include "support/stacks.h"

static void are(const struct rules *rules, enum rule_class class, const char *names)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", names);
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
        enum rule_class found = rules_classify(rules, "vmlinux", name);
        bool right = class == MIRE_CLASS_NONE ? rule_class_is_app(found) || !found : found == class;
        if (!right)
            printf("%s is %s\n", name, rule_class_name(found));
        assert_true(right);
    }
}

static void words_count_anywhere_in_a_name_and_parts_of_words_do_not(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    are(s->rules, MIRE_CLASS_LOCK,
        "mutex_lock_nested __mutex_lock_common _raw_spin_lock_irqsave console_lock native_queued_spin_lock_slowpath "
        "rwsem_down_write_slowpath down_read __down_common percpu_down_write fuse_lock_inode unlock_page "
        "mutex_lock.part.0");
    are(s->rules, MIRE_CLASS_WAIT,
        "__wait_rcu_gp inode_wait_for_writeback jbd2_log_wait_commit wait_for_completion __flush_work flush_workqueue "
        "cancel_delayed_work_sync schedule_timeout kthread_stop blk_mq_freeze_queue_wait");
    are(s->rules, MIRE_CLASS_ALLOCATOR,
        "kmem_cache_alloc_node __alloc_skb sk_prot_alloc kmalloc_trace kvzalloc_node __kmalloc_track_caller "
        "alloc_inode "
        "kstrdup_const kmemdup_nul");
    are(s->rules, MIRE_CLASS_DISPATCH,
        "__fput ____fput task_work_run page_fault do_page_fault do_syscall_64 invoke_syscall __x64_sys_ioctl SyS_ioctl "
        "compat_SyS_ioctl __do_softirq run_timer_softirq call_timer_fn process_one_work ret_from_fork_asm vfs_write "
        "exit_to_user_mode_loop nfnetlink_rcv_msg");
    are(s->rules, MIRE_CLASS_NONE,
        "new_inode new_inode_smack blkdev_issue_zeroout clock_was_set ext4_block_write_begin generic_shutdown_super "
        "deactivate_locked_super tcp_v4_rcv kvm_mmu_page_fault __x64_sys_nanosleep kernfs_fop_open debugfs_create_dir "
        "start_xmit stream_open struct_init allocator_init free_netdev strp_data_ready "
        "synchronize_rcu_expedited __synchronize_srcu");
    stacks_free(s);
}

#define K     "@vmlinux "
#define CALL  "entry_SYSCALL_64" K "do_syscall_64" K
#define CLOCK "asm_sysvec_apic_timer_interrupt" K "hrtimer_interrupt" K "tick_sched_timer" K "rcu_sched_clock_irq" K

static void a_task_that_hung_is_blamed_on_who_waits(void **state)
{
    (void)state;
    static const struct {
        const char *stack, *caller1;
    } tasks[] = {
        {CALL "__x64_sys_sync" K "sync_bdevs" K "filemap_fdatawait_range" K "folio_wait_bit_common" K "io_schedule" K
              "schedule" K,
         "sync_bdevs"},
        {CALL "__x64_sys_mount" K "path_mount" K "p9_start" K "cancel_work_sync" K "__flush_work" K
              "wait_for_completion" K "schedule_timeout" K "__schedule" K,
         "p9_start"},
        {"ret_from_fork" K "kthread" K "worker_thread" K "process_one_work" K "cleanup_net" K "synchronize_net" K
         "synchronize_rcu_expedited" K "exp_wait_wake" K "__schedule" K,
         "synchronize_rcu_expedited"},
        {CALL "__x64_sys_ioctl" K "vfs_ioctl" K "sock_ioctl" K "rtnl_lock" K "mutex_lock_nested" K "__schedule" K,
         "rtnl_lock"},
        {CALL "exit_to_user_mode_loop" K "task_work_run" K "__fput" K "tty_release" K "tty_port_close" K
              "__down_timeout" K "__schedule" K,
         "tty_port_close"},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct stacks *s = stacks_new();
        sample(s, 1, '?', tasks[i].stack);
        assert_string_equal(find(s).caller1.function, tasks[i].caller1);
        stacks_free(s);
    }
}

static void a_processor_that_stalls_is_blamed_on_what_was_entered(void **state)
{
    (void)state;
    static const struct {
        const char *stack, *caller1;
    } stalls[] = {
        {CALL "__x64_sys_write" K "ksys_write" K "vfs_write" K "mouse_write" K "mouse_event" K
              "_raw_spin_unlock_irq" K CLOCK,
         "mouse_write"},
        {"page_fault" K "do_page_fault" K "handle_mm_fault" K "do_wp_page" K CLOCK, "handle_mm_fault"},
        {CALL "exit_to_user_mode_loop" K "task_work_run" K "__fput" K "vm_release" K "vm_destroy" K CLOCK,
         "vm_release"},
        {CALL "compat_SyS_ioctl" K "compat_blkdev_ioctl" K "loop_compat_ioctl" K "loop_ioctl" K CLOCK, "loop_ioctl"},
        {CALL "__x64_sys_rmdir" K "do_rmdir" K "vfs_rmdir" K "d_walk" K "nmi_cpu_backtrace" K, "__x64_sys_rmdir"},
        /* in any caller, the wait for other processors has one name: the innermost of the row */
        {CALL "__x64_sys_clock_settime" K "clock_was_set" K "on_each_cpu" K "smp_call_function" K
              "smp_call_function_many_cond" K "smp_call_function_single" K "csd_lock_wait" K "watchdog_timer_fn" K,
         "smp_call_function_single"},
        {CALL "__x64_sys_bpf" K "bpf_compile" K "on_each_cpu_cond_mask" K "smp_call_function_many_cond" K
              "watchdog_timer_fn" K,
         "smp_call_function_many_cond"},
        /* work requested by another processor counts as its own, not as the interrupted function's */
        {"ret_from_fork" K "kthread" K "worker_thread" K "process_one_work" K "wb_workfn" K
         "sysvec_call_function_single" K "flush_smp_call_function_queue" K "do_flush_tlb_all" K CLOCK,
         "do_flush_tlb_all"},
    };
    for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++) {
        struct stacks *s = stacks_new();
        sample(s, 1, '?', stalls[i].stack);
        assert_string_equal(find(s).caller1.function, stalls[i].caller1);
        stacks_free(s);
    }
}

static void what_leaks_is_blamed_on_who_asked_the_allocators(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 1, '?',
           CALL "__x64_sys_mount" K "path_mount" K "gfs_fill_super" K "gfs_sys_add" K "kobject_init_and_add" K
                "kobject_set_name_vargs" K "kvasprintf_const" K "kstrdup_const" K "__kmalloc_track_caller" K
                "kmemleak_alloc" K "create_object" K);
    assert_string_equal(find(s).caller1.function, "gfs_sys_add");
    stacks_free(s);
}

/* A worker without work is no hang, and a busy one is. */
static void threads_that_wait_for_work_are_idle(void **state)
{
    (void)state;
    struct stacks *s = stacks_new();
    sample(s, 1, '?', "ret_from_fork" K "kthread" K "worker_thread" K "schedule" K "__schedule" K);
    assert_int_equal(find(s).category, MIRE_CATEGORY_IDLE);
    stacks_free(s);
    s = stacks_new();
    sample(s, 1, '?',
           "ret_from_fork" K "kthread" K "worker_thread" K "process_one_work" K "disk_events" K "schedule" K);
    assert_int_equal(find(s).category, MIRE_CATEGORY_HANG);
    assert_string_equal(find(s).caller1.function, "disk_events");
    stacks_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_count_anywhere_in_a_name_and_parts_of_words_do_not),
        cmocka_unit_test(a_task_that_hung_is_blamed_on_who_waits),
        cmocka_unit_test(a_processor_that_stalls_is_blamed_on_what_was_entered),
        cmocka_unit_test(what_leaks_is_blamed_on_who_asked_the_allocators),
        cmocka_unit_test(threads_that_wait_for_work_are_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
