-- 0014: mappings of Java names, which may be known by the app's version; split files that come late; jobs that wait.

ALTER TABLE image
    ADD COLUMN version text NOT NULL DEFAULT '',
    ADD COLUMN build   text NOT NULL DEFAULT '';
COMMENT ON COLUMN image.version IS 'Of code of Java whose mapping is known by the app''s version: that version; else empty.';
COMMENT ON COLUMN image.build IS 'And its build.';

CREATE TABLE symbol_alias (
    alias    bytea   NOT NULL,
    build_id bytea   NOT NULL,
    app_id   integer NOT NULL,
    version  text    NOT NULL,
    build    text    NOT NULL,
    CONSTRAINT symbol_alias_is_identified_by_itself PRIMARY KEY (alias)
);
COMMENT ON TABLE symbol_alias IS 'Mappings that are known by a version of an app too. Reference table.';
COMMENT ON COLUMN symbol_alias.alias IS 'Hash of app, version and build: mapping_id in server/src/model/report.h.';
COMMENT ON COLUMN symbol_alias.build_id IS 'The mapping''s own id, as in symbol_file.';
COMMENT ON COLUMN symbol_alias.app_id IS 'The app.';
COMMENT ON COLUMN symbol_alias.version IS 'The version.';
COMMENT ON COLUMN symbol_alias.build IS 'The build of that version; empty if the app does not tell.';
COMMENT ON INDEX symbol_alias_is_identified_by_itself IS 'Serves: finding the mapping of a report that does not name it.';

CREATE TABLE split_wanted (
    split_id bytea NOT NULL,
    build_id bytea NOT NULL,
    CONSTRAINT split_wanted_is_told_once PRIMARY KEY (split_id, build_id)
);
COMMENT ON TABLE split_wanted IS 'Split files (.dwo) that debug files refer to and that were not there. Reference table.';
COMMENT ON COLUMN split_wanted.split_id IS 'Id of the split file.';
COMMENT ON COLUMN split_wanted.build_id IS 'Build id of the program that wants it.';
COMMENT ON INDEX split_wanted_is_told_once IS 'Serves: the programs whose reports a split file helps.';

ALTER TABLE rekey_job ADD COLUMN horizon bigint;
COMMENT ON COLUMN rekey_job.horizon IS 'Transactions below this number may have worked on reports by what held before; reports are queued once they have ended. Null: not looked at yet.';
