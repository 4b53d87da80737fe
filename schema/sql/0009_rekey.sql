-- 0009: stored reports are derived anew when what they were derived with has changed: a debug file came, rules changed.

ALTER TABLE issue
    ADD COLUMN unnamed boolean NOT NULL DEFAULT false,
    ADD COLUMN gone_to bigint;
COMMENT ON COLUMN issue.unnamed IS 'A caller has no name, so the key is of its build id and offset. Once its debug file is there, no report has that key any more: the issue is given the new one.';
COMMENT ON COLUMN issue.gone_to IS 'Issue that all its reports moved to; null while it has its own. Followed until it is null.';

ALTER TABLE hang ADD COLUMN waited_ms bigint;
COMMENT ON COLUMN hang.waited_ms IS 'Time somebody waited in it, milliseconds, as in issue_hour.longest_ms; null of old rows: duration_ms.';

-- Which reports a debug file would help ---------------------------------------------------------------------------

CREATE TABLE image (
    build_id   bytea       NOT NULL,
    name       text        NOT NULL,
    arch       text        NOT NULL,
    first_seen timestamptz NOT NULL DEFAULT now(),
    look_at    timestamptz NOT NULL DEFAULT now(),
    looks      integer     NOT NULL DEFAULT 0,
    answer     text        NOT NULL DEFAULT '',
    CONSTRAINT image_is_identified_by_its_build_id PRIMARY KEY (build_id)
);
CREATE INDEX image_by_look ON image (look_at);
COMMENT ON TABLE image IS 'Modules that reports have frames in and that there was no debug file for. Reference table.';
COMMENT ON COLUMN image.build_id IS 'GNU build id or UUID.';
COMMENT ON COLUMN image.name IS 'Base name of the module, as the first report had it.';
COMMENT ON COLUMN image.arch IS 'Architecture of the process of that report.';
COMMENT ON COLUMN image.first_seen IS 'When that report was worked on.';
COMMENT ON COLUMN image.look_at IS 'When its debug file is looked for again in directories and at debuginfod servers.';
COMMENT ON COLUMN image.looks IS 'How often that was done.';
COMMENT ON COLUMN image.answer IS 'What came of it the last time; empty before the first.';
COMMENT ON INDEX image_is_identified_by_its_build_id IS 'Serves: naming an image.';
COMMENT ON INDEX image_by_look IS 'Serves: the images that are due to be looked for.';

CREATE TABLE lacking (
    slot      smallint NOT NULL,
    day       date     NOT NULL,
    report_id uuid     NOT NULL,
    build_id  bytea    NOT NULL,
    app_id    integer  NOT NULL,
    had       text     NOT NULL,
    CONSTRAINT lacking_is_told_once PRIMARY KEY (slot, day, report_id, build_id),
    CONSTRAINT lacking_had_something_known CHECK (had IN ('none', 'names'))
) PARTITION BY RANGE (day);
CREATE TABLE lacking_other PARTITION OF lacking DEFAULT;
CREATE INDEX lacking_by_build ON lacking (build_id, app_id, had, day, slot, report_id);
COMMENT ON TABLE lacking IS 'Reports and the modules they have frames in that no debug file was found for. Derived; one partition a day.';
COMMENT ON COLUMN lacking.slot IS 'Slot of the report.';
COMMENT ON COLUMN lacking.day IS 'Day of the report.';
COMMENT ON COLUMN lacking.report_id IS 'The report.';
COMMENT ON COLUMN lacking.build_id IS 'The module, as in image.';
COMMENT ON COLUMN lacking.app_id IS 'App of the report.';
COMMENT ON COLUMN lacking.had IS 'What was known of it: none: nothing; names: functions, but neither lines nor inlined calls.';
COMMENT ON TABLE lacking_other IS 'Those of reports that carry a day that has no partition.';
COMMENT ON INDEX lacking_is_told_once IS 'Serves: replacing what a report lacks.';
COMMENT ON INDEX lacking_by_build IS 'Serves: the reports a debug file helps, and how many lack one, from the index alone.';

ALTER TABLE symbol_file ADD COLUMN source text NOT NULL DEFAULT 'upload';
COMMENT ON COLUMN symbol_file.source IS 'Where it came from: upload, or the address of a debuginfod server.';
COMMENT ON TABLE symbol_file IS 'Debug files that were uploaded or fetched. Reference table.';

CREATE TABLE symbol_arrival (
    build_id   bytea       NOT NULL,
    arrived_at timestamptz NOT NULL DEFAULT now(),
    horizon    bigint,
    CONSTRAINT symbol_arrival_is_noted_once PRIMARY KEY (build_id)
);
COMMENT ON TABLE symbol_arrival IS 'Debug files that came and whose reports are not queued yet. Reference table.';
COMMENT ON COLUMN symbol_arrival.build_id IS 'Build id of the file.';
COMMENT ON COLUMN symbol_arrival.arrived_at IS 'When it came.';
COMMENT ON COLUMN symbol_arrival.horizon IS 'Transactions below this number may have worked on reports without seeing the file; its reports are queued once they have ended. Null: not looked at yet.';
COMMENT ON INDEX symbol_arrival_is_noted_once IS 'Serves: noting an arrival.';

CREATE TABLE symbol_clock (
    one      boolean NOT NULL DEFAULT true,
    arrivals bigint  NOT NULL DEFAULT 0,
    CONSTRAINT symbol_clock_is_one_row PRIMARY KEY (one),
    CONSTRAINT symbol_clock_has_no_other_row CHECK (one)
);
INSERT INTO symbol_clock DEFAULT VALUES;
COMMENT ON TABLE symbol_clock IS 'Counts arrivals of debug files. Reference table.';
COMMENT ON COLUMN symbol_clock.one IS 'True.';
COMMENT ON COLUMN symbol_clock.arrivals IS 'Goes up with every arrival: what was not found before may be there now.';
COMMENT ON INDEX symbol_clock_is_one_row IS 'Serves: nothing; it keeps the table to one row.';

-- Deriving anew ---------------------------------------------------------------------------------------------------

CREATE TABLE rekey_job (
    job_id     bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id     integer,
    cause      text        NOT NULL,
    preview    boolean     NOT NULL,
    detail     text        NOT NULL DEFAULT '',
    rules      text,
    state      text        NOT NULL DEFAULT 'queueing',
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    next_at    timestamptz,
    next_id    uuid,
    queued     bigint      NOT NULL DEFAULT 0,
    CONSTRAINT rekey_job_is_identified_by_its_number PRIMARY KEY (job_id),
    CONSTRAINT rekey_job_has_a_known_cause CHECK (cause IN ('symbols', 'rules', 'key')),
    CONSTRAINT rekey_job_is_of_an_app CHECK (app_id IS NOT NULL OR cause = 'symbols'),
    CONSTRAINT rekey_job_has_a_known_state CHECK (state IN ('queueing', 'running', 'done', 'cancelled'))
);
CREATE UNIQUE INDEX rekey_job_of_symbols ON rekey_job (cause) WHERE cause = 'symbols' AND state = 'running';
COMMENT ON INDEX rekey_job_of_symbols IS 'Serves: adding to the job of debug files that is running, of which there is one at most.';
COMMENT ON TABLE rekey_job IS 'Sets of reports that are derived anew. Reference table.';
COMMENT ON COLUMN rekey_job.job_id IS 'Number of the job.';
COMMENT ON COLUMN rekey_job.app_id IS 'App whose reports they are; null: of whatever app lacked a debug file that came.';
COMMENT ON COLUMN rekey_job.cause IS 'symbols: debug files came; rules: rules changed; key: keys are made in another way.';
COMMENT ON COLUMN rekey_job.preview IS 'Nothing is changed: rekey_flow tells what would be.';
COMMENT ON COLUMN rekey_job.detail IS 'What changed, for people.';
COMMENT ON COLUMN rekey_job.rules IS 'Of a preview: rules of the app in place of those it has; null: those it has.';
COMMENT ON COLUMN rekey_job.state IS 'queueing: reports are still being queued; running; done; cancelled.';
COMMENT ON COLUMN rekey_job.created_at IS 'When it was asked for.';
COMMENT ON COLUMN rekey_job.ended_at IS 'When it was done or cancelled.';
COMMENT ON COLUMN rekey_job.next_at IS 'While queueing: the report received at this time ...';
COMMENT ON COLUMN rekey_job.next_id IS '... of this id, and those received before it, are still to be queued; null: all are.';
COMMENT ON COLUMN rekey_job.queued IS 'Reports queued so far.';
COMMENT ON INDEX rekey_job_is_identified_by_its_number IS 'Serves: the job that a report is queued for.';

CREATE TABLE rekey_queue (
    slot      smallint NOT NULL,
    job_id    bigint   NOT NULL,
    day       date     NOT NULL,
    report_id uuid     NOT NULL,
    attempts  smallint NOT NULL DEFAULT 0,
    CONSTRAINT rekey_queue_holds_a_report_once PRIMARY KEY (slot, job_id, day, report_id)
);
COMMENT ON TABLE rekey_queue IS 'Reports that wait to be derived anew. A row is deleted in the transaction that moves the report.';
COMMENT ON COLUMN rekey_queue.slot IS 'Slot of the report.';
COMMENT ON COLUMN rekey_queue.job_id IS 'Job it is queued for.';
COMMENT ON COLUMN rekey_queue.day IS 'Day of the report.';
COMMENT ON COLUMN rekey_queue.report_id IS 'The report.';
COMMENT ON COLUMN rekey_queue.attempts IS 'How often it was tried without success.';
COMMENT ON INDEX rekey_queue_holds_a_report_once IS 'Serves: claiming the next reports of a job, slot by slot.';

CREATE TABLE rekey_flow (
    slot          smallint    NOT NULL,
    job_id        bigint      NOT NULL,
    from_issue_id bigint      NOT NULL,
    to_key        bytea       NOT NULL,
    to_issue_id   bigint,
    caller1       text        NOT NULL,
    caller2       text        NOT NULL,
    category      text        NOT NULL,
    reason        text        NOT NULL,
    reports       bigint      NOT NULL,
    failed        bigint      NOT NULL DEFAULT 0,
    CONSTRAINT rekey_flow_counts_once PRIMARY KEY (slot, job_id, from_issue_id, to_key)
);
CREATE INDEX rekey_flow_by_job ON rekey_flow (job_id);
COMMENT ON TABLE rekey_flow IS 'From which issue to which feature the reports of a job moved, or would move, and how many. Those that stay, or could not be derived, are in it too.';
COMMENT ON COLUMN rekey_flow.slot IS 'Slot the counted reports are on.';
COMMENT ON COLUMN rekey_flow.job_id IS 'The job.';
COMMENT ON COLUMN rekey_flow.from_issue_id IS 'Issue they were in.';
COMMENT ON COLUMN rekey_flow.to_key IS 'Their feature''s key now.';
COMMENT ON COLUMN rekey_flow.to_issue_id IS 'Issue of that feature; of a preview null if there was none.';
COMMENT ON COLUMN rekey_flow.caller1 IS 'Caller1 of the feature.';
COMMENT ON COLUMN rekey_flow.caller2 IS 'Caller2 of the feature.';
COMMENT ON COLUMN rekey_flow.category IS 'Kind of trouble.';
COMMENT ON COLUMN rekey_flow.reason IS 'Why.';
COMMENT ON COLUMN rekey_flow.reports IS 'How many.';
COMMENT ON COLUMN rekey_flow.failed IS 'How many could not be derived again, and stay as they were.';
COMMENT ON INDEX rekey_flow_counts_once IS 'Serves: adding a report.';
COMMENT ON INDEX rekey_flow_by_job IS 'Serves: what a job did, and where the reports of an issue went.';
