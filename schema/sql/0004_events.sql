-- 0004: events: what reports tell, one row a report, and their counters by hour.

-- An event: the record that the server makes of a report, of whatever kind (hang, load of the whole process, memory), and the
-- issue it belongs to. Derived: written once by the worker, changed only when the report is derived again (0008).
CREATE TABLE event (
    slot             smallint    NOT NULL,
    day              date        NOT NULL,
    report_id        uuid        NOT NULL,
    app_id           integer     NOT NULL,
    version_id       bigint      NOT NULL,
    issue_id         bigint      NOT NULL,
    tree             integer     NOT NULL DEFAULT 0,
    received_at      timestamptz NOT NULL,
    occurred_at      timestamptz NOT NULL,
    duration_ms      bigint      NOT NULL,
    waited_ms        bigint      NOT NULL,
    category         text        NOT NULL,
    reason           text        NOT NULL,
    open             boolean     NOT NULL,
    launch           boolean     NOT NULL,
    foreground       boolean,
    weight           double precision NOT NULL,
    suppressed       bigint      NOT NULL DEFAULT 0,
    suppressed_ms    bigint      NOT NULL DEFAULT 0,
    thread_count     bigint,
    holder           text        NOT NULL DEFAULT '',
    footprint_bytes  bigint,
    subject_bytes    bigint,
    above_bytes      bigint,
    exit             text,
    exit_ppm         integer,
    install          bytea       NOT NULL,
    os               text        NOT NULL,
    os_version       text        NOT NULL,
    arch             text        NOT NULL,
    model            text        NOT NULL,
    process_name     text        NOT NULL,
    device_class     text        NOT NULL DEFAULT '',
    channel          text        NOT NULL DEFAULT '',
    scene            text        NOT NULL DEFAULT '',
    country          text        NOT NULL DEFAULT '',
    user_hash        bytea,
    tags             text[]      NOT NULL DEFAULT '{}',
    sample_count     integer     NOT NULL,
    frame_count      integer     NOT NULL,
    unresolved_count integer     NOT NULL,
    rules_version    integer     NOT NULL,
    kept             boolean     NOT NULL DEFAULT true,
    CONSTRAINT event_is_stored_once PRIMARY KEY (slot, day, report_id),
    CONSTRAINT event_weight_is_one_over_p CHECK (weight >= 1),
    CONSTRAINT event_user_hash_is_of_16_bytes CHECK (octet_length(user_hash) = 16)
) PARTITION BY RANGE (day);
CREATE TABLE event_other PARTITION OF event DEFAULT;
CREATE INDEX event_by_time ON event (app_id, occurred_at);
CREATE INDEX event_by_issue ON event (app_id, issue_id, occurred_at) INCLUDE (install, version_id, kept);
CREATE INDEX event_by_user ON event (app_id, user_hash, occurred_at) WHERE user_hash IS NOT NULL;
COMMENT ON TABLE event IS 'One row a report: its facts, and the issue it belongs to. Baselines are in memory_baseline, sessions in session. Derived; one partition a day.';
COMMENT ON COLUMN event.slot IS 'Slot of the report.';
COMMENT ON COLUMN event.day IS 'Day of the report.';
COMMENT ON COLUMN event.report_id IS 'The report.';
COMMENT ON COLUMN event.app_id IS 'App of the report.';
COMMENT ON COLUMN event.version_id IS 'Version of the app.';
COMMENT ON COLUMN event.issue_id IS 'Issue the report belongs to.';
COMMENT ON COLUMN event.tree IS 'Level 3: hash of the calls from the thread''s entry to Caller1; 0 where there is none, and of trees beyond those issue_tree keeps.';
COMMENT ON COLUMN event.received_at IS 'When the report was received.';
COMMENT ON COLUMN event.occurred_at IS 'When the event began, by the server''s clock: the report''s own time, corrected by report.clock_behind_ms; received_at if the report has no time, or one that is in the future or before all that is kept. Counters are of this hour.';
COMMENT ON COLUMN event.duration_ms IS 'How long the thread was busy, or, of an event of the whole process, was watched, milliseconds.';
COMMENT ON COLUMN event.waited_ms IS 'Time somebody waited in it, milliseconds, as in issue_hour.longest_ms.';
COMMENT ON COLUMN event.category IS 'Kind of trouble, as in issue.category.';
COMMENT ON COLUMN event.reason IS 'Why, as in issue.reason.';
COMMENT ON COLUMN event.open IS 'The process was killed, or crashed, before the event was over.';
COMMENT ON COLUMN event.launch IS 'The event began before the loop had waited for the first time.';
COMMENT ON COLUMN event.foreground IS 'Whether the app was in the foreground; null if the device does not tell.';
COMMENT ON COLUMN event.weight IS 'How many events this one stands for: 1 / sampling probability.';
COMMENT ON COLUMN event.suppressed IS 'Events like this one that the device counted and did not send since the last it sent.';
COMMENT ON COLUMN event.suppressed_ms IS 'How long those were together, milliseconds.';
COMMENT ON COLUMN event.thread_count IS 'Threads of the process; null if the device does not tell.';
COMMENT ON COLUMN event.holder IS 'Who held the lock that the thread waited for: thread and function; empty if nobody is known.';
COMMENT ON COLUMN event.footprint_bytes IS 'Of foom and memory: what the process took of the device''s memory, bytes; null if the device does not tell, and of other kinds.';
COMMENT ON COLUMN event.subject_bytes IS 'Of foom and memory: what the category to blame held, bytes; null of other kinds.';
COMMENT ON COLUMN event.above_bytes IS 'Of foom and memory: subject_bytes above the median of the healthy processes that the report was compared with, bytes, 0 if below; all of subject_bytes if there were too few healthy processes; null of other kinds.';
COMMENT ON COLUMN event.exit IS 'Verdict on the end of its process: watchdog_kill, foom, crash and so on; null if it lived when the report was made, or nobody knows.';
COMMENT ON COLUMN event.exit_ppm IS 'How likely that verdict is, in millionths; null with it.';
COMMENT ON COLUMN event.install IS 'Anonymous installation, 16 bytes.';
COMMENT ON COLUMN event.os IS 'Operating system.';
COMMENT ON COLUMN event.os_version IS 'Its version.';
COMMENT ON COLUMN event.arch IS 'Architecture of the process.';
COMMENT ON COLUMN event.model IS 'Device model.';
COMMENT ON COLUMN event.process_name IS 'Name of the process.';
COMMENT ON COLUMN event.device_class IS 'Class of the device; empty if the device does not tell.';
COMMENT ON COLUMN event.channel IS 'Release channel, as in session.';
COMMENT ON COLUMN event.scene IS 'Scene that the app set; empty if it set none.';
COMMENT ON COLUMN event.country IS 'As report.country.';
COMMENT ON COLUMN event.user_hash IS 'Hash of the user''s id, 16 bytes, as libmire makes it; null if the app set no user, and of reports that are not kept whole.';
COMMENT ON COLUMN event.tags IS 'The tags that app.kept_tags named when the event was stored, each in its name''s place, as name=value of at most 255 bytes; empty where the report has none.';
COMMENT ON COLUMN event.sample_count IS 'Stacks in the report.';
COMMENT ON COLUMN event.frame_count IS 'Distinct frames in the report.';
COMMENT ON COLUMN event.unresolved_count IS 'Distinct frames no function name was found for.';
COMMENT ON COLUMN event.rules_version IS 'Version of the rule pack that computed the key.';
COMMENT ON COLUMN event.kept IS 'The report is kept whole. False: beyond app.enough_per_issue_day it counts; its report is cut down, it has no stacks, and it is not derived again.';
COMMENT ON TABLE event_other IS 'Events whose report carries a day that has no partition.';
COMMENT ON INDEX event_is_stored_once IS 'Serves: idempotent storing, and reading one event.';
COMMENT ON INDEX event_by_time IS 'Serves: the newest event of an app, and facets over a time range.';
COMMENT ON INDEX event_by_issue IS 'Serves: the events of an issue, newest first, and making its rollups anew.';
COMMENT ON INDEX event_by_user IS 'Serves: the events of a user, newest first.';

-- The symbolicated stacks of an event, read only when one report is shown, hence apart from its facts.
CREATE TABLE event_stack (
    slot      smallint NOT NULL,
    day       date     NOT NULL,
    report_id uuid     NOT NULL,
    document  bytea    NOT NULL,
    CONSTRAINT event_stack_is_stored_once PRIMARY KEY (slot, day, report_id)
) PARTITION BY RANGE (day);
ALTER TABLE event_stack ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE TABLE event_stack_other PARTITION OF event_stack DEFAULT;
COMMENT ON TABLE event_stack IS 'The symbolicated stacks of one event. Derived; one partition a day.';
COMMENT ON COLUMN event_stack.slot IS 'Slot of the report.';
COMMENT ON COLUMN event_stack.day IS 'Day of the report.';
COMMENT ON COLUMN event_stack.report_id IS 'The report.';
COMMENT ON COLUMN event_stack.document IS 'Resolved-stack document (server/src/model/resolved.h), compressed by zstd: JSON, a zero, and columns (server/src/document/columns.h).';
COMMENT ON TABLE event_stack_other IS 'Stacks whose report carries a day that has no partition.';
COMMENT ON INDEX event_stack_is_stored_once IS 'Serves: the stacks of one report.';

-- Counters of a version, by kind. Written in the transaction that stores the event, so that an event counts once.
CREATE TABLE version_hour (
    slot       smallint         NOT NULL,
    hour       timestamptz      NOT NULL,
    app_id     integer          NOT NULL,
    version_id bigint           NOT NULL,
    category   text             NOT NULL,
    reports    bigint           NOT NULL,
    events     double precision NOT NULL,
    waited_ms  double precision NOT NULL,
    longest_ms bigint           NOT NULL,
    CONSTRAINT version_hour_counts_once PRIMARY KEY (slot, hour, app_id, version_id, category)
);
COMMENT ON TABLE version_hour IS 'Events of one version and kind in one hour.';
COMMENT ON COLUMN version_hour.slot IS 'Slot of the counter: hash(app, version) mod 64.';
COMMENT ON COLUMN version_hour.hour IS 'Hour in which the events happened (UTC, its beginning).';
COMMENT ON COLUMN version_hour.app_id IS 'App.';
COMMENT ON COLUMN version_hour.version_id IS 'Version.';
COMMENT ON COLUMN version_hour.category IS 'Kind of trouble.';
COMMENT ON COLUMN version_hour.reports IS 'Reports received.';
COMMENT ON COLUMN version_hour.events IS 'Events they stand for: sum of weight x (1 + suppressed).';
COMMENT ON COLUMN version_hour.waited_ms IS 'Time somebody waited in them, milliseconds: sum of weight x (waited_ms + suppressed_ms); of frames the longest one; of cpu, power, disk, foom, memory, crash, custom and test nothing.';
COMMENT ON COLUMN version_hour.longest_ms IS 'Longest single wait, milliseconds.';
COMMENT ON INDEX version_hour_counts_once IS 'Serves: adding a report, and the trend of an app by version.';

-- Counters of an issue, by version and call tree. No page reads event to list or rank issues: it reads these.
CREATE TABLE issue_hour (
    slot       smallint         NOT NULL,
    hour       timestamptz      NOT NULL,
    app_id     integer          NOT NULL,
    issue_id   bigint           NOT NULL,
    version_id bigint           NOT NULL,
    tree       integer          NOT NULL DEFAULT 0,
    reports    bigint           NOT NULL,
    events     double precision NOT NULL,
    waited_ms  double precision NOT NULL,
    longest_ms bigint           NOT NULL,
    last_at    timestamptz      NOT NULL,
    most_bytes bigint           NOT NULL DEFAULT 0,
    above_bytes double precision NOT NULL DEFAULT 0,
    CONSTRAINT issue_hour_counts_once PRIMARY KEY (slot, hour, app_id, issue_id, version_id, tree)
);
CREATE INDEX issue_hour_by_issue ON issue_hour (app_id, issue_id, hour);
COMMENT ON TABLE issue_hour IS 'Events of one issue, version and tree in one hour.';
COMMENT ON COLUMN issue_hour.slot IS 'Slot of the counter: hash(app, issue) mod 64.';
COMMENT ON COLUMN issue_hour.hour IS 'Hour in which the events happened (UTC, its beginning).';
COMMENT ON COLUMN issue_hour.app_id IS 'App.';
COMMENT ON COLUMN issue_hour.issue_id IS 'Issue.';
COMMENT ON COLUMN issue_hour.version_id IS 'Version.';
COMMENT ON COLUMN issue_hour.tree IS 'As event.tree.';
COMMENT ON COLUMN issue_hour.reports IS 'Reports received.';
COMMENT ON COLUMN issue_hour.events IS 'Events they stand for, as in version_hour.';
COMMENT ON COLUMN issue_hour.waited_ms IS 'Time somebody waited in them, as in version_hour.';
COMMENT ON COLUMN issue_hour.longest_ms IS 'Longest single wait, milliseconds.';
COMMENT ON COLUMN issue_hour.last_at IS 'When the newest of them happened.';
COMMENT ON COLUMN issue_hour.most_bytes IS 'Of foom and memory: the most that the category to blame held in one report, bytes; else 0.';
COMMENT ON COLUMN issue_hour.above_bytes IS 'Of foom and memory: sum of event.above_bytes over the events, weighted as events, bytes; else 0.';
COMMENT ON INDEX issue_hour_counts_once IS 'Serves: adding a report, and the issue list of a time range.';
COMMENT ON INDEX issue_hour_by_issue IS 'Serves: the trend and versions of one issue.';

-- Lengths of the turns of watched loops, also of those too short for an event.
CREATE TABLE turn_hour (
    slot       smallint         NOT NULL,
    hour       timestamptz      NOT NULL,
    app_id     integer          NOT NULL,
    version_id bigint           NOT NULL,
    from_ms    bigint           NOT NULL,
    turns      double precision NOT NULL,
    CONSTRAINT turn_hour_counts_once PRIMARY KEY (slot, hour, app_id, version_id, from_ms)
);
COMMENT ON TABLE turn_hour IS 'Turns of watched loops by their length, as reported in one hour: also those too short to be reported. Devices that never report are not in it.';
COMMENT ON COLUMN turn_hour.slot IS 'Slot of the counter: hash(app, version) mod 64.';
COMMENT ON COLUMN turn_hour.hour IS 'Hour in which the events happened (UTC, its beginning).';
COMMENT ON COLUMN turn_hour.app_id IS 'App.';
COMMENT ON COLUMN turn_hour.version_id IS 'Version.';
COMMENT ON COLUMN turn_hour.from_ms IS 'Turns of at least so many milliseconds, and shorter than the next row''s.';
COMMENT ON COLUMN turn_hour.turns IS 'Turns they stand for: sum of weight x count.';
COMMENT ON INDEX turn_hour_counts_once IS 'Serves: adding a report, and the lengths of turns of a time range.';

-- How late records come: events and sessions by the day in which they happened and the time until they were received. Pages
-- tell from it how much of a recent day has usually arrived by now.
CREATE TABLE arrival_day (
    slot   smallint         NOT NULL,
    day    date             NOT NULL,
    app_id integer          NOT NULL,
    kind   text             NOT NULL,
    delay  smallint         NOT NULL,
    events double precision NOT NULL,
    CONSTRAINT arrival_day_counts_once PRIMARY KEY (slot, day, app_id, kind, delay),
    CONSTRAINT arrival_day_has_a_known_kind CHECK (kind IN ('event', 'session')),
    CONSTRAINT arrival_day_has_a_known_delay CHECK (delay BETWEEN 0 AND 12)
);
COMMENT ON TABLE arrival_day IS 'How late the events and sessions of a day came. An event without a time of its own is not counted.';
COMMENT ON COLUMN arrival_day.slot IS 'Slot of the counter: hash(app) mod 64.';
COMMENT ON COLUMN arrival_day.day IS 'UTC day in which they happened.';
COMMENT ON COLUMN arrival_day.app_id IS 'App.';
COMMENT ON COLUMN arrival_day.kind IS 'event or session.';
COMMENT ON COLUMN arrival_day.delay IS 'Time from the event, or from the begin of the session, to the receipt: 0 below an hour, n from 2^(n-1) hours to below 2^n, 12 all that is longer.';
COMMENT ON COLUMN arrival_day.events IS 'Events, as in version_hour, or sessions, as in session_day.';
COMMENT ON INDEX arrival_day_counts_once IS 'Serves: adding a report, and how complete recent days are.';

-- Records that devices could not send, by their own count.
CREATE TABLE loss_day (
    slot       smallint NOT NULL,
    day        date     NOT NULL,
    app_id     integer  NOT NULL,
    version_id bigint   NOT NULL,
    reason     text     NOT NULL,
    lost       bigint   NOT NULL,
    CONSTRAINT loss_day_is_counted_once PRIMARY KEY (slot, day, app_id, version_id, reason),
    CONSTRAINT loss_day_counts_up CHECK (lost >= 0)
);
COMMENT ON TABLE loss_day IS 'Records that devices lost or held back, as the reports and session records of a day tell. Derived; summed over slots.';
COMMENT ON COLUMN loss_day.slot IS 'Slot of the counter: hash(app, version) mod 64.';
COMMENT ON COLUMN loss_day.day IS 'Day that report was received, UTC.';
COMMENT ON COLUMN loss_day.app_id IS 'App of the report.';
COMMENT ON COLUMN loss_day.version_id IS 'Version that reports the loss; an older one may have lost it.';
COMMENT ON COLUMN loss_day.reason IS 'Why, in the device''s words: full, age, write, refused, broken, big, short, suppressed, daily, format, consent, filtered; other for any else.';
COMMENT ON COLUMN loss_day.lost IS 'How many records; not weighted.';
COMMENT ON INDEX loss_day_is_counted_once IS 'Serves: adding, and sums of an app by reason over days.';

-- Rollups (docs/adr/0037-rollups.md): devices, lengths and facets of many events, packed (server/src/rollup). A batch adds one delta
-- in the transaction that stores its events; a merger adds deltas to their cells once a minute and deletes them, in one
-- transaction. A reader adds the deltas that are still there.
CREATE TABLE rollup_delta (
    slot      smallint    NOT NULL,
    delta_id  bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id    integer     NOT NULL,
    made_at   timestamptz NOT NULL DEFAULT now(),
    newest_at timestamptz NOT NULL,
    bytes     bytea       NOT NULL,
    CONSTRAINT rollup_delta_is_added_once PRIMARY KEY (slot, delta_id)
);
ALTER TABLE rollup_delta ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE rollup_delta IS 'The events of batches that are not in their cells yet.';
COMMENT ON COLUMN rollup_delta.slot IS 'Slot of the first report of the batch.';
COMMENT ON COLUMN rollup_delta.delta_id IS 'Number of the delta.';
COMMENT ON COLUMN rollup_delta.app_id IS 'App.';
COMMENT ON COLUMN rollup_delta.made_at IS 'When the batch was begun.';
COMMENT ON COLUMN rollup_delta.newest_at IS 'When the last of the events happened.';
COMMENT ON COLUMN rollup_delta.bytes IS 'The events, packed (server/src/rollup/delta.h).';
COMMENT ON INDEX rollup_delta_is_added_once IS 'Serves: taking deltas.';

-- No event can be taken out of a cell. Cells that events left are made anew from the events that are stored.
CREATE TABLE rollup_due (
    slot     smallint    NOT NULL,
    due_id   bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id   integer     NOT NULL,
    issue_id bigint      NOT NULL,
    day      date        NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT rollup_due_is_done_once PRIMARY KEY (slot, due_id)
);
COMMENT ON TABLE rollup_due IS 'Days of an issue, or of an app, whose cells are to be made anew. A day may have several rows.';
COMMENT ON COLUMN rollup_due.slot IS 'Slot of the cells: hash(app, issue) mod 64.';
COMMENT ON COLUMN rollup_due.due_id IS 'Number of the row.';
COMMENT ON COLUMN rollup_due.app_id IS 'App.';
COMMENT ON COLUMN rollup_due.issue_id IS 'Issue; 0: the cells of the whole app.';
COMMENT ON COLUMN rollup_due.day IS 'UTC day in which the events happened.';
COMMENT ON COLUMN rollup_due.made_at IS 'When it became due.';
COMMENT ON INDEX rollup_due_is_done_once IS 'Serves: taking rows.';

CREATE TABLE rollup (
    slot      smallint    NOT NULL,
    app_id    integer     NOT NULL,
    hours     smallint    NOT NULL,
    at        timestamptz NOT NULL,
    issue_id  bigint      NOT NULL,
    tree      integer     NOT NULL,
    category  text        NOT NULL,
    oldest_at timestamptz NOT NULL,
    newest_at timestamptz NOT NULL,
    devices   bytea       NOT NULL,
    cell      bytea       NOT NULL,
    CONSTRAINT rollup_counts_once PRIMARY KEY (slot, app_id, hours, at, issue_id, tree, category),
    CONSTRAINT rollup_is_of_an_hour_or_a_day CHECK (hours IN (1, 24))
) WITH (fillfactor = 80);
ALTER TABLE rollup ALTER COLUMN devices SET STORAGE MAIN;
CREATE INDEX rollup_by_issue ON rollup (app_id, issue_id, hours, at);
COMMENT ON TABLE rollup IS 'Events of one issue and tree, or of one kind of an app, in one hour or day (UTC), and session records of a day. Hours are kept for 8 days.';
COMMENT ON COLUMN rollup.slot IS 'Slot of the cell: hash(app, issue) mod 64.';
COMMENT ON COLUMN rollup.app_id IS 'App.';
COMMENT ON COLUMN rollup.hours IS 'Length of the span, hours: 1 or 24.';
COMMENT ON COLUMN rollup.at IS 'Its beginning.';
COMMENT ON COLUMN rollup.issue_id IS 'Issue; 0: all issues of the app.';
COMMENT ON COLUMN rollup.tree IS 'As event.tree; 0 of all issues.';
COMMENT ON COLUMN rollup.category IS 'Of all issues the kind of trouble, or session: the session records of an app in a day; empty of an issue.';
COMMENT ON COLUMN rollup.oldest_at IS 'When the first of the events happened.';
COMMENT ON COLUMN rollup.newest_at IS 'When the last of them happened.';
COMMENT ON COLUMN rollup.devices IS 'Distinct installations (server/src/rollup/distinct.h), also in cell.';
COMMENT ON COLUMN rollup.cell IS 'All that the events say (server/src/rollup/cell.h).';
COMMENT ON INDEX rollup_counts_once IS 'Serves: adding to a cell, and the devices of all issues in a time range.';
COMMENT ON INDEX rollup_by_issue IS 'Serves: the cells of some issues, or of an app.';

-- Standing sums (docs/adr/0037-rollups.md): issue_hour, version_hour and turn_hour again, packed over spans of hours
-- (server/src/rollup/standing.h), so that no page reads more rows with more reports. What changes one of these tables adds a delta in
-- its transaction; the merger adds deltas to the rows of their spans once a minute. A reader adds the deltas that are still there.
CREATE TABLE standing_delta (
    slot     smallint    NOT NULL,
    delta_id bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id   integer     NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now(),
    bytes    bytea       NOT NULL,
    CONSTRAINT standing_delta_is_added_once PRIMARY KEY (slot, delta_id)
);
ALTER TABLE standing_delta ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE standing_delta IS 'Changes of counters that are not in their standing sums yet.';
COMMENT ON COLUMN standing_delta.slot IS 'Slot of the first counter.';
COMMENT ON COLUMN standing_delta.delta_id IS 'Number of the delta.';
COMMENT ON COLUMN standing_delta.app_id IS 'App.';
COMMENT ON COLUMN standing_delta.made_at IS 'When the change was begun.';
COMMENT ON COLUMN standing_delta.bytes IS 'The changes, packed.';
COMMENT ON INDEX standing_delta_is_added_once IS 'Serves: taking deltas.';

-- A counter that lost reports has a sum again at once, but its longest and newest event only by a look at the counters.
CREATE TABLE standing_due (
    slot    smallint    NOT NULL,
    due_id  bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id  integer     NOT NULL,
    day     date        NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT standing_due_is_done_once PRIMARY KEY (slot, due_id)
);
COMMENT ON TABLE standing_due IS 'Days of an app whose standing sums are to be made anew from the counters. A day may have several rows.';
COMMENT ON COLUMN standing_due.slot IS 'Slot of the first counter that changed.';
COMMENT ON COLUMN standing_due.due_id IS 'Number of the row.';
COMMENT ON COLUMN standing_due.app_id IS 'App.';
COMMENT ON COLUMN standing_due.day IS 'UTC day in which the events happened.';
COMMENT ON COLUMN standing_due.made_at IS 'When it became due.';
COMMENT ON INDEX standing_due_is_done_once IS 'Serves: taking rows.';

CREATE TABLE standing (
    slot   smallint    NOT NULL,
    app_id integer     NOT NULL,
    kind   smallint    NOT NULL,
    of_id  bigint      NOT NULL,
    hours  smallint    NOT NULL,
    at     timestamptz NOT NULL,
    bytes  bytea       NOT NULL,
    CONSTRAINT standing_counts_once PRIMARY KEY (slot, app_id, kind, hours, at, of_id),
    CONSTRAINT standing_has_a_known_kind CHECK (kind BETWEEN 0 AND 4)
);
ALTER TABLE standing ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE standing IS 'Counters of many issues or versions over a span of hours (UTC), as many as have one slot. Spans of several lengths overlap; each is complete.';
COMMENT ON COLUMN standing.slot IS 'Slot of the counters: hash(app, issue) or hash(app, version) mod 64.';
COMMENT ON COLUMN standing.app_id IS 'App.';
COMMENT ON COLUMN standing.kind IS '0: by issue and tree. 1: by version and kind of trouble. 2: turns by version and length. 3: of one version by issue and tree. 4: of one issue by version, tree and hour.';
COMMENT ON COLUMN standing.of_id IS 'Of kind 3 the version, of kind 4 the issue; else 0.';
COMMENT ON COLUMN standing.hours IS 'Length of the span, hours: 1, 6, 24, 96 or 384 of kind 0; 1 or 24 of kinds 1 to 3; 24 of kind 4.';
COMMENT ON COLUMN standing.at IS 'Its beginning, a multiple of its length since 1970.';
COMMENT ON COLUMN standing.bytes IS 'The counters, packed.';
COMMENT ON INDEX standing_counts_once IS 'Serves: adding changes, the sums of a time range, and making a day anew.';
