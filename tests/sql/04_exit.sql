-- A report of a process that lived has no verdict; one of a process that ended has it, with how sure it is.
BEGIN;
SELECT pg_temp.plan(2);

INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms, waited_ms,
    category, reason, open, launch, weight, install,
    os, os_version, arch, model, process_name, sample_count, frame_count, unresolved_count, rules_version)
VALUES (3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab', 1, 1, 1, now(), now(), 3000, 3000, 'hang', 'cpu', false, false, 1, '\x00',
    'linux', '6.1', 'x86_64', '', 'app', 1, 1, 0, 1);
SELECT pg_temp.ok('nobody knows of an end', (SELECT exit IS NULL AND exit_ppm IS NULL FROM event));
UPDATE event SET exit = 'watchdog_kill', exit_ppm = 984615;
SELECT pg_temp.ok('a verdict is found by its word', (SELECT count(*) = 1 FROM event WHERE exit = 'watchdog_kill' AND exit_ppm > 900000));

SELECT pg_temp.done();
ROLLBACK;
