-- A report is stored once, on its slot and day, and nothing that breaks a rule gets in.
BEGIN;
SELECT pg_temp.plan(15);

CREATE FUNCTION pg_temp.store(slot integer, day date, id uuid, encoding text DEFAULT 'zstd') RETURNS bigint LANGUAGE sql AS $$
    WITH stored AS (
        INSERT INTO report (slot, day, report_id, app_id, format, encoding, body)
        VALUES (slot::smallint, day, id, 1, 'mire', encoding, '\x00') ON CONFLICT DO NOTHING RETURNING slot
    ) SELECT count(*) FROM stored
$$;

SELECT pg_temp.ok('a new report is stored', pg_temp.store(3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab') = 1);
SELECT pg_temp.ok('a repeat is not', pg_temp.store(3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab') = 0);
SELECT pg_temp.ok('a day without partition goes to the default one', (SELECT count(*) = 1 FROM report_other));
SELECT pg_temp.refused('report_slot_is_below_64', 'SELECT pg_temp.store(64, ''2026-11-21'', gen_random_uuid())');
SELECT pg_temp.refused('report_has_a_known_encoding', 'SELECT pg_temp.store(1, ''2026-11-21'', gen_random_uuid(), ''br'')');
SELECT pg_temp.ok('bodies are not compressed again',
    (SELECT attstorage = 'e' FROM pg_attribute WHERE attrelid = 'report'::regclass AND attname = 'body'));

INSERT INTO app (app_id, slug, name) VALUES (1, 'an-app', 'An app');
SELECT pg_temp.refused('app_slug_is_unique', 'INSERT INTO app (app_id, slug, name) VALUES (2, ''an-app'', '''')');
SELECT pg_temp.refused('app_slug_fits_in_a_url', 'INSERT INTO app (app_id, slug, name) VALUES (2, ''../x'', '''')');
SELECT pg_temp.refused('access_key_hash_is_blake2b_256',
    'INSERT INTO access_key (app_id, scope, prefix, hash) VALUES (1, ''ingest'', ''mk_'', ''\x00'')');
SELECT pg_temp.refused('access_key_has_a_known_scope',
    'INSERT INTO access_key (app_id, scope, prefix, hash) VALUES (1, ''all'', ''mk_'', decode(repeat(''00'', 32), ''hex''))');

INSERT INTO inbox (slot, day, report_id, app_id) VALUES (3, '2026-11-21', '019aa1b2-c3d4-7e5f-8a6b-0123456789ab', 1);
SELECT pg_temp.refused('inbox_holds_a_report_once',
    'INSERT INTO inbox (slot, day, report_id, app_id) VALUES (3, ''2026-11-21'', ''019aa1b2-c3d4-7e5f-8a6b-0123456789ab'', 1)');
SELECT pg_temp.ok('a queued report is due at once', (SELECT bool_and(not_before <= now()) FROM inbox));

SELECT pg_temp.ok('every key of a high-volume table begins with slot', (
    SELECT bool_and((SELECT attname = 'slot' FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]))
    FROM pg_constraint WHERE contype = 'p' AND conrelid::regclass::text IN
        ('report', 'inbox', 'dead_letter', 'event', 'event_stack', 'version_hour', 'issue_hour', 'turn_hour')));
SELECT pg_temp.ok('there is no trigger', NOT EXISTS (SELECT FROM pg_trigger WHERE NOT tgisinternal));
SELECT pg_temp.ok('there is no foreign key', NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f'));

SELECT pg_temp.done();
ROLLBACK;
