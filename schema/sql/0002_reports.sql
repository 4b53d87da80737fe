-- 0002: reports as they were received, the queue of those that wait, and those that could not be worked on.

-- A report as received, byte for byte. A report sent twice is stored once: its day is that of its id, not that of its receipt.
-- A row changes once at most: a report that is counted only is cut down to what it counts for (event.kept). A partition is dropped when its days are older than the retention.
CREATE TABLE report (
    slot            smallint    NOT NULL,
    day             date        NOT NULL,
    report_id       uuid        NOT NULL,
    app_id          integer     NOT NULL,
    key_id          bigint      NOT NULL DEFAULT 0,
    received_at     timestamptz NOT NULL DEFAULT now(),
    format          text        NOT NULL,
    encoding        text        NOT NULL,
    body            bytea       NOT NULL,
    clock_behind_ms bigint,
    country         text        NOT NULL DEFAULT '',
    CONSTRAINT report_is_stored_once PRIMARY KEY (slot, day, report_id),
    CONSTRAINT report_slot_is_below_64 CHECK (slot BETWEEN 0 AND 63),
    CONSTRAINT report_has_a_known_encoding CHECK (encoding IN ('identity', 'zstd', 'gzip'))
) PARTITION BY RANGE (day);
ALTER TABLE report ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE report_other PARTITION OF report DEFAULT;
COMMENT ON TABLE report IS 'Reports as received, byte for byte, but for those that are counted only (event.kept). One partition a day.';
COMMENT ON COLUMN report.slot IS 'Distribution bucket: hash(report_id) mod 64.';
COMMENT ON COLUMN report.day IS 'UTC day of the time inside report_id (UUID of version 7 or 8): the same however late a report is sent again.';
COMMENT ON COLUMN report.report_id IS 'Idempotency key, chosen by the device; of an imported report (version 8) made of its content and the app.';
COMMENT ON COLUMN report.app_id IS 'App whose key it was sent with.';
COMMENT ON COLUMN report.key_id IS 'Key it was sent with; 0: it came another way.';
COMMENT ON COLUMN report.received_at IS 'When it was first received.';
COMMENT ON COLUMN report.format IS 'Format of the body: mire.';
COMMENT ON COLUMN report.encoding IS 'Compression of the body: identity, zstd, gzip.';
COMMENT ON COLUMN report.body IS 'The bytes as sent; of a report that is counted only a report of the format mire without stacks.';
COMMENT ON COLUMN report.clock_behind_ms IS 'How far the device''s clock was behind the server''s when the report was sent, milliseconds, the time of the transfer included; negative: ahead; null: the device did not tell.';
COMMENT ON COLUMN report.country IS 'Country of the address it came from, as sent by a trusted proxy, two letters (proxy_country_header); empty if none did.';
COMMENT ON TABLE report_other IS 'Reports whose identifier carries a day that has no partition.';
COMMENT ON INDEX report_is_stored_once IS 'Serves: idempotent storing, and reading one report.';

-- The queue of the pipeline. Claimed with FOR UPDATE SKIP LOCKED, inside the transaction that stores all that is derived of the
-- report and deletes the row: a report is worked on once, wherever the server is killed.
CREATE TABLE inbox (
    slot       smallint    NOT NULL,
    day        date        NOT NULL,
    report_id  uuid        NOT NULL,
    app_id     integer     NOT NULL,
    queued_at  timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz NOT NULL DEFAULT now(),
    attempts   smallint    NOT NULL DEFAULT 0,
    CONSTRAINT inbox_holds_a_report_once PRIMARY KEY (slot, day, report_id)
);
CREATE INDEX inbox_by_app ON inbox (app_id, not_before);
COMMENT ON TABLE inbox IS 'Reports that wait to be worked on. A row is deleted in the transaction that stores what was derived.';
COMMENT ON COLUMN inbox.slot IS 'Slot of the report.';
COMMENT ON COLUMN inbox.day IS 'Day of the report.';
COMMENT ON COLUMN inbox.report_id IS 'The report.';
COMMENT ON COLUMN inbox.app_id IS 'App of the report: workers take turns by app.';
COMMENT ON COLUMN inbox.queued_at IS 'When it was queued.';
COMMENT ON COLUMN inbox.not_before IS 'Not to be tried before this time.';
COMMENT ON COLUMN inbox.attempts IS 'How often it was tried without success.';
COMMENT ON INDEX inbox_holds_a_report_once IS 'Serves: removing a finished report.';
COMMENT ON INDEX inbox_by_app IS 'Serves: finding the app whose turn it is, and claiming its oldest reports that are due.';

-- The dead letters: reports that a stage refused, or that failed too often. Their bytes stay in report.
CREATE TABLE dead_letter (
    slot      smallint    NOT NULL,
    day       date        NOT NULL,
    report_id uuid        NOT NULL,
    app_id    integer     NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    stage     text        NOT NULL,
    reason    text        NOT NULL,
    CONSTRAINT dead_letter_holds_a_report_once PRIMARY KEY (slot, day, report_id)
);
COMMENT ON TABLE dead_letter IS 'Reports that could not be worked on, with the reason. Their bytes stay in report.';
COMMENT ON COLUMN dead_letter.slot IS 'Slot of the report.';
COMMENT ON COLUMN dead_letter.day IS 'Day of the report.';
COMMENT ON COLUMN dead_letter.report_id IS 'The report.';
COMMENT ON COLUMN dead_letter.app_id IS 'App of the report.';
COMMENT ON COLUMN dead_letter.failed_at IS 'When it was given up.';
COMMENT ON COLUMN dead_letter.stage IS 'Stage that failed: decode, symbolicate, known, feature, cluster, aggregate.';
COMMENT ON COLUMN dead_letter.reason IS 'What the stage said.';
COMMENT ON INDEX dead_letter_holds_a_report_once IS 'Serves: putting a report back into the inbox.';

-- Reports that are taken out again, with the rows derived of them and their share of every counter: those of an installation,
-- those that a key sent, or one. A row is never deleted: it says who asked and why.
CREATE TABLE forget_job (
    job_id    bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id    integer     NOT NULL,
    install   bytea,
    key_id    bigint,
    report_id uuid,
    since     timestamptz NOT NULL,
    until     timestamptz NOT NULL,
    author    text        NOT NULL,
    reason    text        NOT NULL,
    state     text        NOT NULL DEFAULT 'queueing',
    asked_at  timestamptz NOT NULL DEFAULT now(),
    ended_at  timestamptz,
    queued    bigint      NOT NULL DEFAULT 0,
    done      bigint      NOT NULL DEFAULT 0,
    CONSTRAINT forget_job_is_identified_by_its_number PRIMARY KEY (job_id),
    CONSTRAINT forget_job_names_reports_in_one_way CHECK (num_nonnulls(install, key_id, report_id) = 1),
    CONSTRAINT forget_job_has_a_known_state CHECK (state IN ('queueing', 'running', 'done')),
    CONSTRAINT forget_job_has_an_author_and_a_reason CHECK (author <> '' AND reason <> '')
);
COMMENT ON TABLE forget_job IS 'Reports that somebody asked to take out. Rows are never deleted. Reference table.';
COMMENT ON COLUMN forget_job.job_id IS 'Number of the job.';
COMMENT ON COLUMN forget_job.app_id IS 'App whose reports go.';
COMMENT ON COLUMN forget_job.install IS 'Installation whose reports go, 16 bytes; null if the job names them otherwise.';
COMMENT ON COLUMN forget_job.key_id IS 'Key whose reports go; null if the job names them otherwise.';
COMMENT ON COLUMN forget_job.report_id IS 'The report that goes; null if the job names reports otherwise.';
COMMENT ON COLUMN forget_job.since IS 'Reports received from then on.';
COMMENT ON COLUMN forget_job.until IS 'Reports received before that; later than asked_at means asked_at.';
COMMENT ON COLUMN forget_job.author IS 'Who asked: the name of an account, or the key.';
COMMENT ON COLUMN forget_job.reason IS 'Why, in the author''s words.';
COMMENT ON COLUMN forget_job.state IS 'queueing: reports are sought; running: those found are taken out; done.';
COMMENT ON COLUMN forget_job.asked_at IS 'When it was asked.';
COMMENT ON COLUMN forget_job.ended_at IS 'When the last report was gone; null before.';
COMMENT ON COLUMN forget_job.queued IS 'Reports found so far.';
COMMENT ON COLUMN forget_job.done IS 'Of those, taken out.';
COMMENT ON INDEX forget_job_is_identified_by_its_number IS 'Serves: one job, and the newest of an app.';

-- The reports of a job that are still there. A row is deleted in the transaction that takes the report out.
CREATE TABLE forget_queue (
    slot      smallint NOT NULL,
    job_id    bigint   NOT NULL,
    day       date     NOT NULL,
    report_id uuid     NOT NULL,
    CONSTRAINT forget_queue_holds_a_report_once_for_a_job PRIMARY KEY (slot, job_id, day, report_id)
);
COMMENT ON TABLE forget_queue IS 'Reports that wait to be taken out. A row is deleted in the transaction that does so.';
COMMENT ON COLUMN forget_queue.slot IS 'Slot of the report.';
COMMENT ON COLUMN forget_queue.job_id IS 'Job it is queued for.';
COMMENT ON COLUMN forget_queue.day IS 'Day of the report.';
COMMENT ON COLUMN forget_queue.report_id IS 'The report.';
COMMENT ON INDEX forget_queue_holds_a_report_once_for_a_job IS 'Serves: claiming the next reports of a job.';

-- Reports at the door by their fate, app and day. accepted reports = stored + duplicate + quota; the others were refused.
CREATE TABLE door_day (
    slot    smallint NOT NULL,
    day     date     NOT NULL,
    app_id  integer  NOT NULL,
    outcome text     NOT NULL,
    reports bigint   NOT NULL,
    bytes   bigint   NOT NULL,
    CONSTRAINT door_day_counts_once PRIMARY KEY (slot, day, app_id, outcome)
);
COMMENT ON TABLE door_day IS 'Reports of an app that came in a day, by what became of them at the door. A process that is killed loses the counts of its last seconds.';
COMMENT ON COLUMN door_day.slot IS 'Slot of the counter: hash(app) mod 64.';
COMMENT ON COLUMN door_day.day IS 'UTC day in which they came, by the database''s clock.';
COMMENT ON COLUMN door_day.app_id IS 'App of the key that they were sent with.';
COMMENT ON COLUMN door_day.outcome IS 'stored; duplicate: it was there; quota: beyond the budget of the day, counted only; refused: queue_full, disk_full, body_refused, store_failed, too_often.';
COMMENT ON COLUMN door_day.reports IS 'Reports; of too_often and body_refused requests.';
COMMENT ON COLUMN door_day.bytes IS 'Bytes of their bodies as sent; 0 where the body was not read.';
COMMENT ON INDEX door_day_counts_once IS 'Serves: adding, the budget of a day, and the last days of an app.';
