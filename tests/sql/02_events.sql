-- An event has nothing that nobody told, and turns are counted once an hour, version and length.
BEGIN;
SELECT pg_temp.plan(6);

INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms, waited_ms,
    category, reason, open, launch, weight, install,
    os, os_version, arch, model, process_name, sample_count, frame_count, unresolved_count, rules_version)
VALUES (3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab', 1, 1, 1, now(), now(), 3000, 3000, 'hang', 'cpu', false, false, 1, '\x00',
    'linux', '6.1', 'x86_64', '', 'app', 1, 1, 0, 1);
SELECT pg_temp.ok('what nobody told is not made up', (SELECT foreground IS NULL AND thread_count IS NULL FROM event));
SELECT pg_temp.ok('an event stands for itself alone', (SELECT suppressed = 0 AND suppressed_ms = 0 AND holder = '' FROM event));

CREATE TABLE event_of_a_day (LIKE event INCLUDING ALL);
ALTER TABLE event ATTACH PARTITION event_of_a_day FOR VALUES FROM ('2031-01-01') TO ('2031-01-02');
SELECT pg_temp.ok('a day''s partition has the columns', (SELECT count(*) = 6 FROM pg_attribute WHERE attrelid = 'event_of_a_day'::regclass
    AND attname IN ('foreground', 'launch', 'thread_count', 'suppressed', 'suppressed_ms', 'holder')));

INSERT INTO turn_hour VALUES (3, '2026-11-21 04:00Z', 1, 1, 250, 17);
SELECT pg_temp.refused('turn_hour_counts_once', 'INSERT INTO turn_hour VALUES (3, ''2026-11-21 04:00Z'', 1, 1, 250, 1)');
INSERT INTO turn_hour VALUES (4, '2026-11-21 04:00Z', 1, 1, 250, 3), (3, '2026-11-21 04:00Z', 1, 1, 500, 4)
    ON CONFLICT (slot, hour, app_id, version_id, from_ms) DO UPDATE SET turns = 0;
SELECT pg_temp.ok('slots are summed when read', (SELECT sum(turns) = 20 FROM turn_hour WHERE from_ms = 250));
SELECT pg_temp.ok('each length has its own count', (SELECT count(*) = 3 FROM turn_hour));

SELECT pg_temp.done();
ROLLBACK;
