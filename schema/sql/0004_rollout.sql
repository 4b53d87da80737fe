-- 0004: rollouts, and who may change them.

ALTER TABLE access_key
    DROP CONSTRAINT access_key_has_a_known_scope,
    ADD CONSTRAINT access_key_has_a_known_scope CHECK (scope IN ('ingest', 'symbols', 'rollout'));
COMMENT ON COLUMN access_key.scope IS 'What the key allows: ingest (send reports, ask for the rollout), symbols (upload debug files) or rollout (change the rollout).';

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
