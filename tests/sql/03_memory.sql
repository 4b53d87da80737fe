-- Events that are not of memory tell nothing of it, and sums of memory are kept once a slot and key.
BEGIN;
SELECT pg_temp.plan(7);

INSERT INTO issue (app_id, feature_key, caller1, caller2, category, reason, rules_version, first_seen, first_version_id)
VALUES (1, '\x00112233445566778899aabbccddeeff', 'f', 'g', 'hang', 'cpu', 1, now(), 1);
SELECT pg_temp.ok('an issue of hangs has no category of memory', (SELECT subject = '' FROM issue));
INSERT INTO event (slot, day, report_id, app_id, version_id, issue_id, received_at, occurred_at, duration_ms, waited_ms,
    category, reason, open, launch, weight, install,
    os, os_version, arch, model, process_name, sample_count, frame_count, unresolved_count, rules_version)
VALUES (3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab', 1, 1, 1, now(), now(), 3000, 3000, 'hang', 'cpu', false, false, 1, '\x00',
    'linux', '6.1', 'x86_64', '', 'app', 1, 1, 0, 1);
SELECT pg_temp.ok('a hang held nothing anybody told of', (SELECT footprint_bytes IS NULL AND subject_bytes IS NULL FROM event));

INSERT INTO memory_baseline VALUES (3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab', 1, 1, 'linux', '4gb', now(), '\x00', 1, NULL, 5);
INSERT INTO memory_baseline VALUES (3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab', 1, 1, 'linux', '', now(), '\x00', 1, 1, 1)
    ON CONFLICT (slot, day, report_id) DO NOTHING;
SELECT pg_temp.ok('a baseline is stored once', (SELECT count(*) = 1 FROM memory_baseline));
CREATE TABLE baselines_of_a_day (LIKE memory_baseline INCLUDING ALL);
ALTER TABLE memory_baseline ATTACH PARTITION baselines_of_a_day FOR VALUES FROM ('2031-01-01') TO ('2031-01-02');
SELECT pg_temp.ok('baselines have daily partitions', (SELECT count(*) = 2 FROM pg_inherits WHERE inhparent = 'memory_baseline'::regclass));

INSERT INTO healthy VALUES (3, 1, 1, 'linux', '4gb', now(), '\x01'), (4, 1, 1, 'linux', '4gb', now(), '\x01'), (3, 1, 1, 'linux', '', now(), '\x01'),
    (3, 1, 1, 'ios', '4gb', now(), '\x01');
SELECT pg_temp.refused('healthy_adds_up_once', 'INSERT INTO healthy VALUES (3, 1, 1, ''linux'', ''4gb'', now(), '''')');
INSERT INTO issue_memory VALUES (3, '2026-11-21', 1, 1, 1, 0, '\x01'), (3, '2026-11-22', 1, 1, 1, 0, '\x01');
SELECT pg_temp.refused('issue_memory_adds_up_once', 'INSERT INTO issue_memory VALUES (3, ''2026-11-21'', 1, 1, 1, 0, '''')');
SELECT pg_temp.ok('sums are read over all slots', (SELECT count(*) = 2 FROM healthy WHERE os = 'linux' AND device_class = '4gb'));

SELECT pg_temp.done();
ROLLBACK;
