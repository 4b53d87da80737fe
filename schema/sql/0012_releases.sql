-- 0012: releases: when a version went where, the commit it was built from, and the commits that are new in it.

-- A mark: one version in one environment. A mark that is made again replaces the old one.
CREATE TABLE release_mark (
    app_id      integer     NOT NULL,
    version     text        NOT NULL,
    environment text        NOT NULL,
    commit      text        NOT NULL DEFAULT '',
    released_at timestamptz NOT NULL,
    made_by     text        NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT release_mark_is_one_in_an_environment PRIMARY KEY (app_id, version, environment),
    CONSTRAINT release_mark_has_a_version_and_an_environment CHECK (version <> '' AND environment <> ''),
    CONSTRAINT release_mark_commit_is_hexadecimal CHECK (commit ~ '^([0-9a-f]{7,64})?$')
);
COMMENT ON TABLE release_mark IS 'Releases and deployments of versions. Reference table.';
COMMENT ON COLUMN release_mark.app_id IS 'App.';
COMMENT ON COLUMN release_mark.version IS 'Version as the app reports it; it need not have reported yet.';
COMMENT ON COLUMN release_mark.environment IS 'Where it was released: production, staging, a channel of a store.';
COMMENT ON COLUMN release_mark.commit IS 'Commit it was built from, hexadecimal; empty if unknown.';
COMMENT ON COLUMN release_mark.released_at IS 'When it was released there.';
COMMENT ON COLUMN release_mark.made_by IS 'Who made the mark.';
COMMENT ON COLUMN release_mark.made_at IS 'When.';
COMMENT ON INDEX release_mark_is_one_in_an_environment IS 'Serves: the marks of an app, and the commit of a version.';

-- The commits that are new in a version, as in its git log. They are replaced together.
CREATE TABLE release_commit (
    app_id       integer     NOT NULL,
    version      text        NOT NULL,
    place        integer     NOT NULL,
    commit       text        NOT NULL,
    author       text        NOT NULL,
    subject      text        NOT NULL,
    committed_at timestamptz NOT NULL,
    files        text        NOT NULL,
    CONSTRAINT release_commit_is_identified_by_its_place PRIMARY KEY (app_id, version, place),
    CONSTRAINT release_commit_is_hexadecimal CHECK (commit ~ '^[0-9a-f]{7,64}$')
);
COMMENT ON TABLE release_commit IS 'Commits that are new in a version. Reference table.';
COMMENT ON COLUMN release_commit.app_id IS 'App.';
COMMENT ON COLUMN release_commit.version IS 'Version as the app reports it.';
COMMENT ON COLUMN release_commit.place IS 'Place in the log, from 0, the newest.';
COMMENT ON COLUMN release_commit.commit IS 'The commit, hexadecimal.';
COMMENT ON COLUMN release_commit.author IS 'Name of its author.';
COMMENT ON COLUMN release_commit.subject IS 'First line of its message.';
COMMENT ON COLUMN release_commit.committed_at IS 'When it was made.';
COMMENT ON COLUMN release_commit.files IS 'Files it changed, paths in the repository, a line each.';
COMMENT ON INDEX release_commit_is_identified_by_its_place IS 'Serves: the commits of a version.';
