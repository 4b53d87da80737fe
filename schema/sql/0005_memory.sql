-- 0005: memory: what healthy processes hold, and what the processes of an issue hold.

-- A baseline: what a healthy process held. It belongs to no issue and has no event; the row makes it count once.
CREATE TABLE memory_baseline (
    slot            smallint    NOT NULL,
    day             date        NOT NULL,
    report_id       uuid        NOT NULL,
    app_id          integer     NOT NULL,
    version_id      bigint      NOT NULL,
    os              text        NOT NULL,
    device_class    text        NOT NULL,
    received_at     timestamptz NOT NULL,
    install         bytea       NOT NULL,
    weight          double precision NOT NULL,
    footprint_bytes bigint,
    held_bytes      bigint      NOT NULL,
    CONSTRAINT memory_baseline_is_stored_once PRIMARY KEY (slot, day, report_id)
) PARTITION BY RANGE (day);
CREATE TABLE memory_baseline_other PARTITION OF memory_baseline DEFAULT;
COMMENT ON TABLE memory_baseline IS 'One row a baseline: what a healthy process held. Belongs to no issue. Derived; one partition a day.';
COMMENT ON COLUMN memory_baseline.slot IS 'Slot of the report.';
COMMENT ON COLUMN memory_baseline.day IS 'Day of the report.';
COMMENT ON COLUMN memory_baseline.report_id IS 'The report.';
COMMENT ON COLUMN memory_baseline.app_id IS 'App of the report.';
COMMENT ON COLUMN memory_baseline.version_id IS 'Version of the app.';
COMMENT ON COLUMN memory_baseline.os IS 'Operating system; empty if the device does not tell.';
COMMENT ON COLUMN memory_baseline.device_class IS 'Class of the device; empty if it does not tell.';
COMMENT ON COLUMN memory_baseline.received_at IS 'When the report was received.';
COMMENT ON COLUMN memory_baseline.install IS 'Anonymous installation, 16 bytes.';
COMMENT ON COLUMN memory_baseline.weight IS 'How many processes this one stands for: 1 / sampling probability.';
COMMENT ON COLUMN memory_baseline.footprint_bytes IS 'What it took of the device''s memory, bytes; null if the device does not tell.';
COMMENT ON COLUMN memory_baseline.held_bytes IS 'What all its categories held, bytes.';
COMMENT ON TABLE memory_baseline_other IS 'Baselines whose report carries a day that has no partition.';
COMMENT ON INDEX memory_baseline_is_stored_once IS 'Serves: counting a baseline once.';

-- The sum of baselines, one sketch for each version, operating system and device class. A report is compared with its medians.
CREATE TABLE healthy (
    slot         smallint    NOT NULL,
    app_id       integer     NOT NULL,
    version_id   bigint      NOT NULL,
    os           text        NOT NULL,
    device_class text        NOT NULL,
    last_at      timestamptz NOT NULL,
    population   bytea       NOT NULL,
    CONSTRAINT healthy_adds_up_once PRIMARY KEY (slot, app_id, version_id, os, device_class)
);
COMMENT ON TABLE healthy IS 'What healthy processes of one version, operating system and device class hold, summed up.';
COMMENT ON COLUMN healthy.slot IS 'Slot of the sum: hash(app, version) mod 64.';
COMMENT ON COLUMN healthy.app_id IS 'App.';
COMMENT ON COLUMN healthy.version_id IS 'Version.';
COMMENT ON COLUMN healthy.os IS 'Operating system; empty where devices do not tell.';
COMMENT ON COLUMN healthy.device_class IS 'Class of the devices; empty where they do not tell.';
COMMENT ON COLUMN healthy.last_at IS 'When the newest of them was received.';
COMMENT ON COLUMN healthy.population IS 'Sketches of footprint, and of bytes and objects of every category (server/src/model/population.h).';
COMMENT ON INDEX healthy_adds_up_once IS 'Serves: adding a baseline, and the medians that a report is compared with.';

-- The sum of what the processes of an issue held. A report that moves to another issue is taken away here and added there.
CREATE TABLE issue_memory (
    slot       smallint NOT NULL,
    day        date     NOT NULL,
    app_id     integer  NOT NULL,
    issue_id   bigint   NOT NULL,
    version_id bigint   NOT NULL,
    tree       integer  NOT NULL DEFAULT 0,
    population bytea    NOT NULL,
    CONSTRAINT issue_memory_adds_up_once PRIMARY KEY (slot, day, app_id, issue_id, version_id, tree)
);
CREATE INDEX issue_memory_by_issue ON issue_memory (app_id, issue_id, day);
COMMENT ON TABLE issue_memory IS 'What the processes of one issue, version and tree held, reports of one day summed up.';
COMMENT ON COLUMN issue_memory.slot IS 'Slot of the sum: hash(app, issue) mod 64.';
COMMENT ON COLUMN issue_memory.day IS 'UTC day in which the events happened.';
COMMENT ON COLUMN issue_memory.app_id IS 'App.';
COMMENT ON COLUMN issue_memory.issue_id IS 'Issue.';
COMMENT ON COLUMN issue_memory.version_id IS 'Version.';
COMMENT ON COLUMN issue_memory.tree IS 'As event.tree.';
COMMENT ON COLUMN issue_memory.population IS 'As healthy.population.';
COMMENT ON INDEX issue_memory_adds_up_once IS 'Serves: adding a report.';
COMMENT ON INDEX issue_memory_by_issue IS 'Serves: the categories of an issue over a time range.';
