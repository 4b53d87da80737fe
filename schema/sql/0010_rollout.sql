-- 0010: rollouts: which installations run which plugins, and shares that are raised step by step.

-- Versions of an app's rollout; the one of the highest number holds. Rows are never changed or deleted.
CREATE TABLE rollout_version (
    app_id  integer     NOT NULL,
    version bigint      NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    author  text        NOT NULL,
    reason  text        NOT NULL,
    rules   text        NOT NULL,
    CONSTRAINT rollout_version_is_identified_by_app_and_number PRIMARY KEY (app_id, version),
    CONSTRAINT rollout_version_counts_from_one CHECK (version >= 1),
    CONSTRAINT rollout_version_says_who_and_why CHECK (author <> '' AND reason <> '')
);
COMMENT ON TABLE rollout_version IS 'Every rollout an app ever had; the one of the highest number holds. Rows are never changed or deleted. Reference table.';
COMMENT ON COLUMN rollout_version.app_id IS 'App it is of.';
COMMENT ON COLUMN rollout_version.version IS 'Number, counting up by one with every change.';
COMMENT ON COLUMN rollout_version.made_at IS 'When it was made.';
COMMENT ON COLUMN rollout_version.author IS 'Who made it; "ramp" for the server itself.';
COMMENT ON COLUMN rollout_version.reason IS 'Why, in the author''s words.';
COMMENT ON COLUMN rollout_version.rules IS 'The rules, JSON as server/src/rollout/rollout.h describes it.';
COMMENT ON INDEX rollout_version_is_identified_by_app_and_number IS 'Serves: the rollout that holds, and one by its number.';

-- The ramp of a plugin, the newest one. Its steps are versions of the rollout.
CREATE TABLE rollout_ramp (
    app_id           integer          NOT NULL,
    plugin           text             NOT NULL,
    rule             text             NOT NULL,
    author           text             NOT NULL,
    steps            integer[]        NOT NULL,
    hold_s           bigint           NOT NULL,
    crash_points     double precision NOT NULL,
    cpu_percent      double precision NOT NULL,
    reports_per_hour double precision NOT NULL,
    backs            boolean          NOT NULL,
    before_ppm       integer          NOT NULL,
    state            text             NOT NULL,
    step             integer          NOT NULL,
    step_since       timestamptz      NOT NULL,
    looked_at        timestamptz      NOT NULL,
    note             text             NOT NULL,
    tripped_at       timestamptz,
    CONSTRAINT rollout_ramp_is_the_only_one_of_its_plugin PRIMARY KEY (app_id, plugin),
    CONSTRAINT rollout_ramp_has_a_known_state CHECK (state IN ('running', 'paused', 'done', 'stopped')),
    CONSTRAINT rollout_ramp_is_on_one_of_its_steps CHECK (step >= 0 AND step < cardinality(steps))
);
COMMENT ON TABLE rollout_ramp IS 'The ramp of a plugin, the newest one: what it did is in rollout_version. Reference table.';
COMMENT ON COLUMN rollout_ramp.app_id IS 'App it is of.';
COMMENT ON COLUMN rollout_ramp.plugin IS 'Plugin whose share is raised.';
COMMENT ON COLUMN rollout_ramp.rule IS 'Name of the rule it is raised in.';
COMMENT ON COLUMN rollout_ramp.author IS 'Who began it.';
COMMENT ON COLUMN rollout_ramp.steps IS 'Shares, millionths, rising.';
COMMENT ON COLUMN rollout_ramp.hold_s IS 'How long each step holds at least, seconds.';
COMMENT ON COLUMN rollout_ramp.crash_points IS 'Guard: percentage points by which runs may end badly more often than the control''s; 0: not looked at.';
COMMENT ON COLUMN rollout_ramp.cpu_percent IS 'Guard: CPU of the library, of one processor; 0: not looked at.';
COMMENT ON COLUMN rollout_ramp.reports_per_hour IS 'Guard: reports of the app in an hour; 0: not looked at.';
COMMENT ON COLUMN rollout_ramp.backs IS 'A guard that trips brings back the share from before; else it pauses.';
COMMENT ON COLUMN rollout_ramp.before_ppm IS 'Share before the ramp, millionths.';
COMMENT ON COLUMN rollout_ramp.state IS 'running, paused, done or stopped.';
COMMENT ON COLUMN rollout_ramp.step IS 'Step that holds, from 0.';
COMMENT ON COLUMN rollout_ramp.step_since IS 'Since when.';
COMMENT ON COLUMN rollout_ramp.looked_at IS 'When it was looked at last.';
COMMENT ON COLUMN rollout_ramp.note IS 'What it waits for, or why it does not go on.';
COMMENT ON COLUMN rollout_ramp.tripped_at IS 'When a guard tripped; null if none did, or somebody has acted since.';
COMMENT ON INDEX rollout_ramp_is_the_only_one_of_its_plugin IS 'Serves: the ramps of an app.';
