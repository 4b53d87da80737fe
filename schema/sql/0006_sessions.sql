-- 0006: sessions: what rates are divided by.

-- A session record. A session has no event and no issue; the row makes it count once.
CREATE TABLE session (
    slot          smallint    NOT NULL,
    day           date        NOT NULL,
    report_id     uuid        NOT NULL,
    app_id        integer     NOT NULL,
    version_id    bigint      NOT NULL,
    received_at   timestamptz NOT NULL,
    occurred_at   timestamptz NOT NULL,
    install       bytea       NOT NULL,
    channel       text        NOT NULL,
    plugins       smallint    NOT NULL,
    part          integer     NOT NULL,
    over          boolean     NOT NULL,
    loop          boolean     NOT NULL,
    duration_ms   bigint      NOT NULL,
    foreground_ms bigint,
    hangs         bigint      NOT NULL,
    hang_ms       bigint      NOT NULL,
    sdk_cpu_us    bigint      NOT NULL,
    weight        double precision NOT NULL,
    watched       double precision NOT NULL DEFAULT 0,
    os            text        NOT NULL DEFAULT '',
    os_version    text        NOT NULL DEFAULT '',
    arch          text        NOT NULL DEFAULT '',
    model         text        NOT NULL DEFAULT '',
    process_name  text        NOT NULL DEFAULT '',
    device_class  text        NOT NULL DEFAULT '',
    country       text        NOT NULL DEFAULT '',
    ends          integer     NOT NULL DEFAULT 0,
    fooms         integer     NOT NULL DEFAULT 0,
    watchdogs     integer     NOT NULL DEFAULT 0,
    crashes       integer     NOT NULL DEFAULT 0,
    cpu_ms        bigint,
    footprint_peak_bytes bigint,
    launch_ms     bigint,
    frames_drawn  bigint,
    frames_dropped bigint,
    CONSTRAINT session_is_stored_once PRIMARY KEY (slot, day, report_id),
    CONSTRAINT session_weight_is_one_over_p CHECK (weight >= 1)
) PARTITION BY RANGE (day);
CREATE TABLE session_other PARTITION OF session DEFAULT;
CREATE INDEX session_by_time ON session USING brin (occurred_at);
COMMENT ON TABLE session IS 'One row a session record: a run of a program with all its processes, or a day of a longer one. Derived; one partition a day.';
COMMENT ON COLUMN session.slot IS 'Slot of the record.';
COMMENT ON COLUMN session.day IS 'Day of the record.';
COMMENT ON COLUMN session.report_id IS 'The record.';
COMMENT ON COLUMN session.app_id IS 'App of the record.';
COMMENT ON COLUMN session.version_id IS 'Version of the app.';
COMMENT ON COLUMN session.received_at IS 'When the record was received.';
COMMENT ON COLUMN session.occurred_at IS 'When the session, or its part, began, by the server''s clock: as event.occurred_at.';
COMMENT ON COLUMN session.install IS 'Anonymous installation, 16 bytes.';
COMMENT ON COLUMN session.channel IS 'Release channel: public, gray, internal, or what else the app calls it.';
COMMENT ON COLUMN session.plugins IS 'Plugins that ran from begin to end, bits: 1 hang, 2 memory, 4 exit, 8 session.';
COMMENT ON COLUMN session.part IS 'Which day of a long session, from 0.';
COMMENT ON COLUMN session.over IS 'The session has ended with it.';
COMMENT ON COLUMN session.loop IS 'A thread of it was seen to wait for events.';
COMMENT ON COLUMN session.duration_ms IS 'How long it was, milliseconds; a sleeping machine does not count.';
COMMENT ON COLUMN session.foreground_ms IS 'How much of it in the foreground, milliseconds; null if the app does not tell.';
COMMENT ON COLUMN session.hangs IS 'Turns over their threshold, also those that were not reported; background left out.';
COMMENT ON COLUMN session.hang_ms IS 'How long those were together, milliseconds.';
COMMENT ON COLUMN session.sdk_cpu_us IS 'CPU time of the library''s threads, microseconds.';
COMMENT ON COLUMN session.weight IS 'How many sessions this one stands for: 1 / share of the session plugin.';
COMMENT ON COLUMN session.watched IS 'How many sessions it stands for in rates of hangs: 1 / (share of session x share of hang); 0 if it was not watched for hangs, or had no loop.';
COMMENT ON COLUMN session.os IS 'Operating system.';
COMMENT ON COLUMN session.os_version IS 'Its version.';
COMMENT ON COLUMN session.arch IS 'Architecture of the process.';
COMMENT ON COLUMN session.model IS 'Device model.';
COMMENT ON COLUMN session.process_name IS 'Name of the process.';
COMMENT ON COLUMN session.device_class IS 'Class of the device; empty if the device does not tell.';
COMMENT ON COLUMN session.country IS 'As report.country.';
COMMENT ON COLUMN session.ends IS 'Runs whose end it contains.';
COMMENT ON COLUMN session.fooms IS 'Those that ran out of memory in the foreground.';
COMMENT ON COLUMN session.watchdogs IS 'Those that were killed during a hang.';
COMMENT ON COLUMN session.crashes IS 'Those that crashed or aborted.';
COMMENT ON COLUMN session.cpu_ms IS 'CPU time of its processes, milliseconds; null if the device does not tell, as in the columns after it.';
COMMENT ON COLUMN session.footprint_peak_bytes IS 'Largest footprint of one of its processes, bytes.';
COMMENT ON COLUMN session.launch_ms IS 'From the begin of the launch to the first wait for events, milliseconds.';
COMMENT ON COLUMN session.frames_drawn IS 'Frames that the app reported.';
COMMENT ON COLUMN session.frames_dropped IS 'Frames that were due and did not come.';
COMMENT ON INDEX session_by_time IS 'Serves: rebuilding the rollups of a day.';
COMMENT ON TABLE session_other IS 'Sessions whose record carries a day that has no partition.';
COMMENT ON INDEX session_is_stored_once IS 'Serves: idempotent storing.';

-- Counters of sessions. A sum called *_sq holds the squares of the weights: the interval of a rate is computed from those.
-- The columns from watched on are of sessions that were watched for hangs: those with a loop and the hang plugin.
CREATE TABLE session_day (
    slot         smallint         NOT NULL,
    day          date             NOT NULL,
    app_id       integer          NOT NULL,
    version_id   bigint           NOT NULL,
    channel      text             NOT NULL,
    plugins      smallint         NOT NULL,
    records      bigint           NOT NULL,
    sessions     double precision NOT NULL,
    sessions_sq  double precision NOT NULL,
    time_ms      double precision NOT NULL,
    sdk_cpu_us   double precision NOT NULL,
    watched      double precision NOT NULL,
    watched_sq   double precision NOT NULL,
    watched_ms   double precision NOT NULL,
    lagging      double precision NOT NULL,
    hangs        double precision NOT NULL,
    hang_ms      double precision NOT NULL,
    hang_hang_sq double precision NOT NULL,
    hang_time_sq double precision NOT NULL,
    time_time_sq double precision NOT NULL,
    CONSTRAINT session_day_counts_once PRIMARY KEY (slot, day, app_id, version_id, channel, plugins)
);
COMMENT ON TABLE session_day IS 'Sessions of one version, channel and set of plugins in one day.';
COMMENT ON COLUMN session_day.slot IS 'Slot of the counter: hash(app, version) mod 64.';
COMMENT ON COLUMN session_day.day IS 'UTC day in which the sessions, or their parts, began.';
COMMENT ON COLUMN session_day.app_id IS 'App.';
COMMENT ON COLUMN session_day.version_id IS 'Version.';
COMMENT ON COLUMN session_day.channel IS 'Release channel.';
COMMENT ON COLUMN session_day.plugins IS 'Plugins that ran, as in session.';
COMMENT ON COLUMN session_day.records IS 'Records received.';
COMMENT ON COLUMN session_day.sessions IS 'Sessions they stand for: sum of weights.';
COMMENT ON COLUMN session_day.sessions_sq IS 'Sum of squared weights.';
COMMENT ON COLUMN session_day.time_ms IS 'Time they stand for, milliseconds: in the foreground, or all of it where the app does not tell.';
COMMENT ON COLUMN session_day.sdk_cpu_us IS 'CPU time of the library they stand for, microseconds.';
COMMENT ON COLUMN session_day.watched IS 'Sessions that those with a loop and the hang plugin stand for: sum of 1 / (share of session x share of hang).';
COMMENT ON COLUMN session_day.watched_sq IS 'Sum of the squares of that.';
COMMENT ON COLUMN session_day.watched_ms IS 'Time they stand for, milliseconds.';
COMMENT ON COLUMN session_day.lagging IS 'Of them, those that had a hang outside the background.';
COMMENT ON COLUMN session_day.hangs IS 'Hangs outside the background they stand for.';
COMMENT ON COLUMN session_day.hang_ms IS 'How long those were, milliseconds.';
COMMENT ON COLUMN session_day.hang_hang_sq IS 'Sum of squared weight x hang_ms x hang_ms.';
COMMENT ON COLUMN session_day.hang_time_sq IS 'Sum of squared weight x hang_ms x time_ms.';
COMMENT ON COLUMN session_day.time_time_sq IS 'Sum of squared weight x time_ms x time_ms.';
COMMENT ON INDEX session_day_counts_once IS 'Serves: adding a record, and the rates of an app by version and day.';

-- Counters of how runs ended, by verdict.
CREATE TABLE session_end_day (
    slot       smallint         NOT NULL,
    day        date             NOT NULL,
    app_id     integer          NOT NULL,
    version_id bigint           NOT NULL,
    channel    text             NOT NULL,
    plugins    smallint         NOT NULL,
    verdict    text             NOT NULL,
    ends       double precision NOT NULL,
    ends_sq    double precision NOT NULL,
    CONSTRAINT session_end_day_counts_once PRIMARY KEY (slot, day, app_id, version_id, channel, plugins, verdict)
);
COMMENT ON TABLE session_end_day IS 'How sessions ended, as recorded in one day, by version, channel and set of plugins.';
COMMENT ON COLUMN session_end_day.slot IS 'Slot of the counter: hash(app, version) mod 64.';
COMMENT ON COLUMN session_end_day.day IS 'UTC day in which the sessions, or their parts, began.';
COMMENT ON COLUMN session_end_day.app_id IS 'App.';
COMMENT ON COLUMN session_end_day.version_id IS 'Version of the session that recorded it; of a run that was killed its own.';
COMMENT ON COLUMN session_end_day.channel IS 'Release channel.';
COMMENT ON COLUMN session_end_day.plugins IS 'Plugins that ran in the session that recorded it, as in session.';
COMMENT ON COLUMN session_end_day.verdict IS 'clean_exit, crash, foom, watchdog_kill and so on: exit.verdict of the wire; other of one that the server does not know.';
COMMENT ON COLUMN session_end_day.ends IS 'Runs they stand for: sum of weights.';
COMMENT ON COLUMN session_end_day.ends_sq IS 'Sum of squared weights.';
COMMENT ON INDEX session_end_day_counts_once IS 'Serves: adding a record, and the rates of an app by version and day.';
