-- 0001: apps, the keys that open them, and their versions.
--
-- Rules of every table (docs/adr/0004-one-store-postgresql.md); tests/structure/sql.sh checks them:
--   * A high-volume table leads its keys with slot, so that the same SQL runs on Citus with slot as the distribution column.
--     A row of a report has slot = hash(report_id) mod 64. A counter has slot = hash(app, key) mod 64, where the key is the
--     version or the issue, so that a batch of reports changes few rows (docs/adr/0036-work-in-batches.md).
--   * A low-volume table is a reference table: small, read everywhere, written rarely.
--   * A table of one row a report is partitioned by day and emptied by dropping partitions.
--   * No triggers, no foreign key between two slots, no LISTEN/NOTIFY.
--   * Constraints are named as sentences. Every table, column (with its unit) and index (with the query it serves) has a COMMENT.

-- An app. Its number never changes; its slug is a part of every URL. A setting that is null has the server's value.
CREATE TABLE app (
    app_id               integer     NOT NULL,
    slug                 text        NOT NULL,
    name                 text        NOT NULL,
    created_at           timestamptz NOT NULL DEFAULT now(),
    retention_days       integer,
    quota_reports_day    bigint,
    quota_bytes_day      bigint,
    enough_per_issue_day integer,
    merge_above          real,
    source_link          text        NOT NULL DEFAULT '',
    source_root          text        NOT NULL DEFAULT '',
    ticket_link          text        NOT NULL DEFAULT '',
    owners               text        NOT NULL DEFAULT '',
    goal_lag_percent          double precision,
    goal_hang_s_per_hour      double precision,
    goal_foom_percent         double precision,
    goal_watchdog_percent     double precision,
    goal_crash_percent        double precision,
    left_out             text        NOT NULL DEFAULT '',
    kept_tags            text        NOT NULL DEFAULT '',
    idle                 text        NOT NULL DEFAULT 'archive',
    is_demo              boolean     NOT NULL DEFAULT false,
    CONSTRAINT app_is_identified_by_its_number PRIMARY KEY (app_id),
    CONSTRAINT app_slug_is_unique UNIQUE (slug),
    CONSTRAINT app_slug_fits_in_a_url CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    CONSTRAINT app_retention_is_of_a_century CHECK (retention_days BETWEEN 0 AND 36500),
    CONSTRAINT app_goals_are_not_negative CHECK (least(goal_lag_percent, goal_hang_s_per_hour, goal_foom_percent, goal_watchdog_percent, goal_crash_percent) >= 0),
    CONSTRAINT app_quotas_are_not_negative CHECK (quota_reports_day >= 0 AND quota_bytes_day >= 0),
    CONSTRAINT app_enough_is_not_negative CHECK (enough_per_issue_day >= 0),
    CONSTRAINT app_merges_above_a_share CHECK (merge_above BETWEEN 0.5 AND 1),
    CONSTRAINT app_has_a_known_way_with_the_idle CHECK (idle IN ('keep', 'archive', 'delete')),
    CONSTRAINT app_leaves_out_installations CHECK (left_out ~ '^([0-9a-f]{32}( [0-9a-f]{32})*)?$'),
    CONSTRAINT app_keeps_up_to_eight_tags CHECK (kept_tags ~ '^([A-Za-z0-9_.-]{1,32}( [A-Za-z0-9_.-]{1,32}){0,7})?$')
);
COMMENT ON TABLE app IS 'An app whose reports are kept apart from all others. Reference table.';
COMMENT ON COLUMN app.app_id IS 'Number of the app, given out in order.';
COMMENT ON COLUMN app.slug IS 'Name of the app in URLs.';
COMMENT ON COLUMN app.name IS 'Name of the app as people read it.';
COMMENT ON COLUMN app.created_at IS 'When the app was created.';
COMMENT ON COLUMN app.retention_days IS 'Days after which reports are dropped; 0: never; null: as the server is configured.';
COMMENT ON COLUMN app.quota_reports_day IS 'Reports accepted a day, by the database''s clock in UTC; 0: no limit; null: as the server is configured.';
COMMENT ON COLUMN app.quota_bytes_day IS 'Bytes of reports accepted a day, in UTC; 0: no limit; null: as the server is configured.';
COMMENT ON COLUMN app.enough_per_issue_day IS 'Reports of one issue and version that happened in one UTC day and are kept whole; more are counted only; 0: no limit; null: as the server is configured.';
COMMENT ON COLUMN app.merge_above IS 'Similarity, 0.5 to 1, from which a new issue is merged into an older one; null: the server merges none by itself.';
COMMENT ON COLUMN app.source_link IS 'Address of a line of the source, with {commit}, {file}, {line} and {version} to fill in; empty: frames have no links.';
COMMENT ON COLUMN app.source_root IS 'Folder of the repository where the app is built: taken off the paths of frames; empty: paths are taken as they are.';
COMMENT ON COLUMN app.ticket_link IS 'Address of a tracker''s form for a new ticket, with {title}, {body}, {link} and {issue} to fill in; empty: none.';
COMMENT ON COLUMN app.owners IS 'Rules of owners, in the syntax of CODEOWNERS files (server/src/model/owners.h): new issues are assigned by them; empty: none.';
COMMENT ON COLUMN app.goal_lag_percent IS 'Goal of the app: sessions with a hang, percent; null: none.';
COMMENT ON COLUMN app.goal_hang_s_per_hour IS 'Goal of the app: hang time, seconds per hour; null: none.';
COMMENT ON COLUMN app.goal_foom_percent IS 'Goal of the app: ended runs out of memory, percent; null: none.';
COMMENT ON COLUMN app.goal_watchdog_percent IS 'Goal of the app: ended runs killed while hung, percent; null: none.';
COMMENT ON COLUMN app.goal_crash_percent IS 'Goal of the app: ended runs that crashed, percent; null: none.';
COMMENT ON COLUMN app.left_out IS 'Installations whose reports are counted nowhere, such as those of a device farm: 32 hex digits each, with blanks between.';
COMMENT ON COLUMN app.kept_tags IS 'Names of tags that events keep, up to eight, with blanks between.';
COMMENT ON COLUMN app.idle IS 'Fate of issues and versions without reports for idle_days: keep; archive: an issue is ignored until its next report, a version is not listed; delete: an issue leads to the issue other of its kind, which takes its counters, a version is not listed.';
COMMENT ON COLUMN app.is_demo IS 'Its reports are invented, and the API changes nothing in it.';
COMMENT ON INDEX app_is_identified_by_its_number IS 'Serves: joins from every other table.';
COMMENT ON INDEX app_slug_is_unique IS 'Serves: the app named in a URL.';
CREATE UNIQUE INDEX app_demo_is_one ON app (is_demo) WHERE is_demo;
COMMENT ON INDEX app_demo_is_one IS 'Serves: the demo app, and that there is one at most.';

-- Numbers of apps that were removed: a worker may still hold one, so it is not given out again.
CREATE TABLE app_removed (
    app_id     integer     NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT now(),
    emptied_at timestamptz,
    CONSTRAINT app_removed_is_identified_by_its_number PRIMARY KEY (app_id)
);
COMMENT ON TABLE app_removed IS 'Apps that were removed. Reference table.';
COMMENT ON COLUMN app_removed.app_id IS 'Number that the app had.';
COMMENT ON COLUMN app_removed.removed_at IS 'When it was removed.';
COMMENT ON COLUMN app_removed.emptied_at IS 'When no row of it was found any more, but those of the audit log; null: mired deletes them.';
COMMENT ON INDEX app_removed_is_identified_by_its_number IS 'Serves: giving out the next number of an app.';

-- A secret of a client. Only its hash is stored; a key that is refused stays, with the time.
CREATE TABLE access_key (
    key_id     bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id     integer     NOT NULL,
    scope      text        NOT NULL,
    prefix     text        NOT NULL,
    hash       bytea       NOT NULL,
    label      text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    expires_at timestamptz,
    used_at    timestamptz,
    CONSTRAINT access_key_is_identified_by_its_number PRIMARY KEY (key_id),
    CONSTRAINT access_key_hash_is_unique UNIQUE (hash),
    CONSTRAINT access_key_hash_is_blake2b_256 CHECK (octet_length(hash) = 32),
    CONSTRAINT access_key_has_a_known_scope CHECK (scope IN ('ingest', 'symbols', 'rollout', 'rules', 'read', 'admin'))
);
COMMENT ON TABLE access_key IS 'Secrets that let a client send reports or symbols for one app. Reference table.';
COMMENT ON COLUMN access_key.key_id IS 'Number of the key.';
COMMENT ON COLUMN access_key.app_id IS 'App the key opens.';
COMMENT ON COLUMN access_key.scope IS 'What the key allows: ingest (send reports, ask for the rollout), symbols (upload debug files, mark releases), rollout (change the rollout), rules (preview and change the rules for blame), read (read what the dashboard shows) or admin (all but ingest).';
COMMENT ON COLUMN access_key.prefix IS 'First characters of the key, to recognise it by.';
COMMENT ON COLUMN access_key.hash IS 'BLAKE2b-256 of the whole key; the key itself is not stored.';
COMMENT ON COLUMN access_key.label IS 'What the key is for, in the owner''s words.';
COMMENT ON COLUMN access_key.created_at IS 'When the key was made.';
COMMENT ON COLUMN access_key.revoked_at IS 'Since when the key is refused; null while it is good.';
COMMENT ON COLUMN access_key.expires_at IS 'From when the key is refused; null if it does not expire.';
COMMENT ON COLUMN access_key.used_at IS 'When the key was last used, some seconds late; null if it never was.';
COMMENT ON INDEX access_key_is_identified_by_its_number IS 'Serves: revoking a key.';
COMMENT ON INDEX access_key_hash_is_unique IS 'Serves: checking the key of a request.';

-- Values that an app's reports named. A day takes in so many new ones of a kind; others count as "other".
CREATE TABLE known_value (
    app_id integer NOT NULL,
    kind   text    NOT NULL,
    value  text    NOT NULL,
    day    date    NOT NULL,
    CONSTRAINT known_value_is_known_once PRIMARY KEY (app_id, kind, value),
    CONSTRAINT known_value_has_a_known_kind CHECK (kind IN ('version', 'channel', 'class', 'issue'))
);
CREATE INDEX known_value_by_day ON known_value (app_id, kind, day);
COMMENT ON TABLE known_value IS 'Values that an app has taken in: they bound the rows that reports can make. Reference table.';
COMMENT ON COLUMN known_value.app_id IS 'App.';
COMMENT ON COLUMN known_value.kind IS 'version, channel, class (of the device) or issue.';
COMMENT ON COLUMN known_value.value IS 'The text; of a version with its build behind a tab, of an issue its key in hex digits.';
COMMENT ON COLUMN known_value.day IS 'UTC day in which it was taken in, by the database''s clock.';
COMMENT ON INDEX known_value_is_known_once IS 'Serves: whether a report''s value is known.';
COMMENT ON INDEX known_value_by_day IS 'Serves: how many a day has taken in.';

CREATE TABLE put_aside_day (
    app_id  integer NOT NULL,
    day     date    NOT NULL,
    kind    text    NOT NULL,
    reports bigint  NOT NULL,
    CONSTRAINT put_aside_day_counts_once PRIMARY KEY (app_id, day, kind)
);
COMMENT ON TABLE put_aside_day IS 'Reports of which a value counts as "other", because the day had taken in enough new ones. Reference table.';
COMMENT ON COLUMN put_aside_day.app_id IS 'App.';
COMMENT ON COLUMN put_aside_day.day IS 'UTC day in which they were worked on, by the database''s clock.';
COMMENT ON COLUMN put_aside_day.kind IS 'As known_value.kind.';
COMMENT ON COLUMN put_aside_day.reports IS 'How many.';
COMMENT ON INDEX put_aside_day_counts_once IS 'Serves: adding, and telling the days of a range.';

-- A version of an app, one row for each build. A row is added by the first report that names it, and stays.
CREATE TABLE version (
    version_id bigint      GENERATED BY DEFAULT AS IDENTITY,
    app_id     integer     NOT NULL,
    version    text        NOT NULL,
    build      text        NOT NULL DEFAULT '',
    first_seen timestamptz NOT NULL,
    archived   boolean     NOT NULL DEFAULT false,
    CONSTRAINT version_is_identified_by_its_number PRIMARY KEY (version_id),
    CONSTRAINT version_and_build_are_unique_in_an_app UNIQUE (app_id, version, build)
);
COMMENT ON TABLE version IS 'Versions of an app that reports came from. Reference table.';
COMMENT ON COLUMN version.version_id IS 'Number of the version.';
COMMENT ON COLUMN version.app_id IS 'App it is a version of.';
COMMENT ON COLUMN version.version IS 'Version as users see it, e.g. 8.0.38.';
COMMENT ON COLUMN version.build IS 'Build of that version; empty if the app does not tell.';
COMMENT ON COLUMN version.first_seen IS 'When its first report was received.';
COMMENT ON COLUMN version.archived IS 'It had neither reports nor sessions for long (app.idle): listed in time ranges alone in which it has some.';
COMMENT ON INDEX version_is_identified_by_its_number IS 'Serves: joins from event, version_hour and issue_hour.';
COMMENT ON INDEX version_and_build_are_unique_in_an_app IS 'Serves: finding the version a report names.';
