-- Reports that a debug file helps are found by its build id; a report waits once for a job; an app has one running job of debug files.
BEGIN;
SELECT pg_temp.plan(5);

INSERT INTO missing_set (build_id, set_id, had, seen) SELECT decode(md5(s::text), 'hex'), s, 'none', '2026-11-21' FROM generate_series(0, 3) s;
INSERT INTO report_missing (slot, day, report_id, app_id, set_id) SELECT s, '2026-11-21', gen_random_uuid(), 1, s % 4 FROM generate_series(0, 63) s;
SELECT pg_temp.ok('reports are found by the build id they miss', (SELECT count(*) = 16 FROM missing_debug_file WHERE build_id = decode(md5('1'), 'hex')));
CREATE TEMP TABLE plan_lines (line text);
DO $$
DECLARE line text;
BEGIN
    SET LOCAL enable_seqscan = off;
    FOR line IN EXPLAIN SELECT slot, day, report_id FROM missing_debug_file WHERE build_id = '\x00' LOOP INSERT INTO plan_lines VALUES (line); END LOOP;
END $$;
SELECT pg_temp.ok('without reading the others', (SELECT NOT bool_or(line LIKE '%Seq Scan%') FROM plan_lines));

INSERT INTO rekey_job (app_id, cause, preview, state) VALUES (1, 'symbols', false, 'running');
SELECT pg_temp.refused('rekey_job_of_symbols', $$INSERT INTO rekey_job (app_id, cause, preview, state) VALUES (1, 'symbols', false, 'running')$$);

INSERT INTO rekey_queue (slot, job_id, day, report_id) SELECT slot, 1, day, report_id FROM missing_debug_file;
INSERT INTO rekey_queue (slot, job_id, day, report_id) SELECT slot, 1, day, report_id FROM missing_debug_file ON CONFLICT DO NOTHING;
SELECT pg_temp.ok('a report waits once', (SELECT count(*) = 64 FROM rekey_queue));
INSERT INTO rekey_job (app_id, cause, preview, state) VALUES (2, 'symbols', false, 'running');
SELECT pg_temp.ok('another app has its own', (SELECT count(*) = 2 FROM rekey_job));

SELECT pg_temp.done();
ROLLBACK;
