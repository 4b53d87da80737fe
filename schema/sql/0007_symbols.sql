-- 0007: debug files: those that are there, those that come in parts, those that reports miss.

-- A debug file of an app, or one that the server fetched for all of them (app_id 0). It names the frames of that app's reports
-- alone. Its bytes are in symbol_chunk, once for all apps that sent the same. Of two files of an app with one build id the one that
-- has more is used. Another hash means other contents: what was converted from the old ones is not used any more.
CREATE TABLE symbol_file (
    build_id    bytea       NOT NULL,
    kind        text        NOT NULL,
    app_id      integer     NOT NULL,
    arch        text        NOT NULL,
    name        text        NOT NULL,
    size_bytes  bigint      NOT NULL,
    hash        bytea       NOT NULL,
    last_hash   bytea       NOT NULL,
    source      text        NOT NULL DEFAULT 'upload',
    depth       text        NOT NULL DEFAULT '',
    defect      text        NOT NULL DEFAULT '',
    uploaded_at timestamptz NOT NULL DEFAULT now(),
    used_on     date        NOT NULL DEFAULT current_date,
    CONSTRAINT symbol_file_is_identified_by_build_kind_and_app PRIMARY KEY (build_id, kind, app_id),
    CONSTRAINT symbol_file_has_a_known_kind CHECK (kind IN ('debug', 'symtab')),
    CONSTRAINT symbol_file_hash_is_blake2b_256 CHECK (octet_length(hash) = 32),
    CONSTRAINT symbol_file_has_a_known_depth CHECK (depth IN ('', 'names', 'lines', 'dwarf'))
);
CREATE INDEX symbol_file_by_app ON symbol_file (app_id);
CREATE INDEX symbol_file_by_hash ON symbol_file (hash);
COMMENT ON TABLE symbol_file IS 'Debug files that were uploaded or fetched. Reference table.';
COMMENT ON COLUMN symbol_file.build_id IS 'GNU build id of the module.';
COMMENT ON COLUMN symbol_file.kind IS 'debug: has DWARF; symtab: has names only.';
COMMENT ON COLUMN symbol_file.app_id IS 'App whose key it was sent with; 0: the server fetched it, for every app.';
COMMENT ON COLUMN symbol_file.arch IS 'Architecture, e.g. x86_64.';
COMMENT ON COLUMN symbol_file.name IS 'File name it was uploaded under.';
COMMENT ON COLUMN symbol_file.size_bytes IS 'Size of the file, bytes.';
COMMENT ON COLUMN symbol_file.hash IS 'BLAKE2b-256 of its contents; what is converted from it is stored under that.';
COMMENT ON COLUMN symbol_file.last_hash IS 'BLAKE2b-256 of the contents that the app sent last; another one than hash where those tell less.';
COMMENT ON COLUMN symbol_file.source IS 'Where it came from: upload, or the address of a debuginfod server.';
COMMENT ON COLUMN symbol_file.depth IS 'What it has of the code: names: functions; lines: and lines (line tables, Breakpad, mappings); dwarf: and calls, types, variables. Empty: it was fetched and not looked at, and counts as dwarf.';
COMMENT ON COLUMN symbol_file.defect IS 'Which parts of it are damaged, as found when it was sent; for people. Empty: none, or it was fetched and not read whole.';
COMMENT ON COLUMN symbol_file.uploaded_at IS 'When it arrived.';
COMMENT ON COLUMN symbol_file.used_on IS 'Day on which it arrived, or a report last had frames of it, a week late at most.';
COMMENT ON INDEX symbol_file_is_identified_by_build_kind_and_app IS 'Serves: symbolication by build id.';
COMMENT ON INDEX symbol_file_by_app IS 'Serves: the files of an app.';
COMMENT ON INDEX symbol_file_by_hash IS 'Serves: whether contents are still of a file.';

-- The bytes of debug files, in pieces that fit in memory. Pieces that no file has any more go in the hourly upkeep.
CREATE TABLE symbol_chunk (
    hash  bytea   NOT NULL,
    part  integer NOT NULL,
    bytes bytea   NOT NULL,
    CONSTRAINT symbol_chunk_is_identified_by_contents_and_part PRIMARY KEY (hash, part)
);
ALTER TABLE symbol_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE symbol_chunk IS 'Contents of debug files, zstd-compressed, in pieces. Reference table.';
COMMENT ON COLUMN symbol_chunk.hash IS 'Contents, as in symbol_file.';
COMMENT ON COLUMN symbol_chunk.part IS 'Number of the piece, from 0.';
COMMENT ON COLUMN symbol_chunk.bytes IS 'The piece: a zstd frame of at most 1 MiB of the file.';
COMMENT ON INDEX symbol_chunk_is_identified_by_contents_and_part IS 'Serves: reading a debug file in order.';

-- Files that have come in part. A row goes when the file is whole, or after a day.
CREATE TABLE symbol_upload (
    app_id     integer     NOT NULL,
    hash       bytea       NOT NULL,
    size_bytes bigint      NOT NULL,
    have_bytes bigint      NOT NULL DEFAULT 0,
    name       text        NOT NULL,
    begun_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT symbol_upload_is_identified_by_app_and_hash PRIMARY KEY (app_id, hash),
    CONSTRAINT symbol_upload_hash_is_blake2b_256 CHECK (octet_length(hash) = 32),
    CONSTRAINT symbol_upload_has_no_more_than_its_size CHECK (have_bytes BETWEEN 0 AND size_bytes)
);
COMMENT ON TABLE symbol_upload IS 'Debug files that have come in part; a row goes when the file is whole, or after a day. Reference table.';
COMMENT ON COLUMN symbol_upload.app_id IS 'App whose key sends it: no other app learns of it, adds to it or ends it.';
COMMENT ON COLUMN symbol_upload.hash IS 'BLAKE2b-256 of the whole file.';
COMMENT ON COLUMN symbol_upload.size_bytes IS 'Size of the whole file, bytes.';
COMMENT ON COLUMN symbol_upload.have_bytes IS 'How much of it has come, from its beginning, bytes.';
COMMENT ON COLUMN symbol_upload.name IS 'File name it is sent under.';
COMMENT ON COLUMN symbol_upload.begun_at IS 'When its first part came.';
COMMENT ON INDEX symbol_upload_is_identified_by_app_and_hash IS 'Serves: going on with an upload.';

-- The pieces of those.
CREATE TABLE symbol_upload_piece (
    app_id integer NOT NULL,
    hash   bytea   NOT NULL,
    part   integer NOT NULL,
    bytes  bytea   NOT NULL,
    CONSTRAINT symbol_upload_piece_is_identified_by_file_and_part PRIMARY KEY (app_id, hash, part)
);
ALTER TABLE symbol_upload_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE symbol_upload_piece IS 'What has come of them, in pieces as in symbol_chunk. Reference table.';
COMMENT ON COLUMN symbol_upload_piece.app_id IS 'App of the upload.';
COMMENT ON COLUMN symbol_upload_piece.hash IS 'Hash of the file.';
COMMENT ON COLUMN symbol_upload_piece.part IS 'Number of the piece, from 0.';
COMMENT ON COLUMN symbol_upload_piece.bytes IS 'The piece: a zstd frame of at most 1 MiB of the file.';
COMMENT ON INDEX symbol_upload_piece_is_identified_by_file_and_part IS 'Serves: putting the file together.';

-- Mappings of Java names that are known by a version of an app, for reports that do not name their mapping.
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

-- Modules that reports have frames in and no debug file was found for. Looked for again at look_at.
CREATE TABLE image (
    build_id   bytea       NOT NULL,
    name       text        NOT NULL,
    arch       text        NOT NULL,
    version    text        NOT NULL DEFAULT '',
    build      text        NOT NULL DEFAULT '',
    defect     text        NOT NULL DEFAULT '',
    first_seen timestamptz NOT NULL DEFAULT now(),
    look_at    timestamptz NOT NULL DEFAULT now(),
    looks      integer     NOT NULL DEFAULT 0,
    answer     text        NOT NULL DEFAULT '',
    CONSTRAINT image_is_identified_by_its_build_id PRIMARY KEY (build_id)
);
CREATE INDEX image_by_look ON image (look_at);
COMMENT ON TABLE image IS 'Modules that reports have frames in and that there was no debug file for, and files of dwz that their DWARF refers to and that were not there, or were damaged. Reference table.';
COMMENT ON COLUMN image.build_id IS 'GNU build id or UUID.';
COMMENT ON COLUMN image.name IS 'Base name of the module, as the first report had it; of a file of dwz as the DWARF has it.';
COMMENT ON COLUMN image.arch IS 'Architecture of the process of that report.';
COMMENT ON COLUMN image.version IS 'Of code of Java whose mapping is known by the app''s version: that version; else empty.';
COMMENT ON COLUMN image.build IS 'And its build.';
COMMENT ON COLUMN image.defect IS 'Which parts of the files that are there are damaged, and which files that they refer to (split ones, of dwz) are missing, as it was when a report last missed it; for people. Empty: nothing is there, or its names only.';
COMMENT ON COLUMN image.first_seen IS 'When that report was worked on.';
COMMENT ON COLUMN image.look_at IS 'When its debug file is looked for again in directories and at debuginfod servers.';
COMMENT ON COLUMN image.looks IS 'How often that was done.';
COMMENT ON COLUMN image.answer IS 'What came of it the last time; empty before the first.';
COMMENT ON INDEX image_is_identified_by_its_build_id IS 'Serves: naming an image.';
COMMENT ON INDEX image_by_look IS 'Serves: the images that are due to be looked for.';

-- Missing debug files. Most reports of a version lack the same files, so a set of files is stored once, and a report has one
-- row with the number of its set.
CREATE TABLE missing_set (
    build_id bytea  NOT NULL,
    set_id   bigint NOT NULL,
    had      text   NOT NULL,
    seen     date   NOT NULL,
    CONSTRAINT missing_set_has_a_file_once PRIMARY KEY (build_id, set_id),
    CONSTRAINT missing_set_had_something_known CHECK (had IN ('none', 'names', 'lines'))
);
CREATE INDEX missing_set_by_number ON missing_set (set_id);
COMMENT ON TABLE missing_set IS 'Sets of modules that no debug file was found for, or none that is whole, as reports have them. Reference table.';
COMMENT ON COLUMN missing_set.build_id IS 'The module, as in image.';
COMMENT ON COLUMN missing_set.set_id IS 'Number of the set: a hash of its modules and what was known of each.';
COMMENT ON COLUMN missing_set.had IS 'What was known of the module: none: nothing; names: some of it, as functions without lines and inlined calls, or what can be read of a damaged file; lines: functions and lines, of line tables or a file of Breakpad: such a report misses nothing, and is derived again if a file with DWARF comes.';
COMMENT ON COLUMN missing_set.seen IS 'UTC day on which a report with the set was stored last. Sets go when no report of that day is kept.';
COMMENT ON INDEX missing_set_has_a_file_once IS 'Serves: the sets with a file, and adding one.';
COMMENT ON INDEX missing_set_by_number IS 'Serves: the files of a set.';

CREATE TABLE report_missing (
    slot      smallint NOT NULL,
    day       date     NOT NULL,
    report_id uuid     NOT NULL,
    app_id    integer  NOT NULL,
    set_id    bigint   NOT NULL,
    CONSTRAINT report_missing_is_counted_once PRIMARY KEY (slot, day, report_id)
) PARTITION BY RANGE (day);
CREATE TABLE report_missing_other PARTITION OF report_missing DEFAULT;
CREATE INDEX report_missing_by_set ON report_missing (set_id, app_id, day, slot, report_id);
COMMENT ON TABLE report_missing IS 'Reports that have frames in modules without a whole debug file, each with the set of these modules. Derived; one partition a day.';
COMMENT ON COLUMN report_missing.slot IS 'Slot of the report.';
COMMENT ON COLUMN report_missing.day IS 'Day of the report.';
COMMENT ON COLUMN report_missing.report_id IS 'The report.';
COMMENT ON COLUMN report_missing.app_id IS 'App of the report.';
COMMENT ON COLUMN report_missing.set_id IS 'The set, as in missing_set.';
COMMENT ON TABLE report_missing_other IS 'Those of reports that carry a day that has no partition.';
COMMENT ON INDEX report_missing_is_counted_once IS 'Serves: replacing what a report lacks.';
COMMENT ON INDEX report_missing_by_set IS 'Serves: the reports a debug file helps, and how many lack one, from the index alone.';

CREATE VIEW missing_debug_file AS
SELECT l.slot, l.day, l.report_id, s.build_id, l.app_id, s.had FROM report_missing l JOIN missing_set s USING (set_id);
COMMENT ON VIEW missing_debug_file IS 'Reports and the modules they lack a debug file of.';

-- Split files that debug files refer to: when one comes, the reports of the programs that want it are derived again.
CREATE TABLE split_wanted (
    split_id bytea NOT NULL,
    build_id bytea NOT NULL,
    CONSTRAINT split_wanted_is_counted_once PRIMARY KEY (split_id, build_id)
);
COMMENT ON TABLE split_wanted IS 'Split files (.dwo, .dwp) that debug files refer to and that were not there, or were damaged. Reference table.';
COMMENT ON COLUMN split_wanted.split_id IS 'Id of the split file.';
COMMENT ON COLUMN split_wanted.build_id IS 'Build id of the program that wants it.';
COMMENT ON INDEX split_wanted_is_counted_once IS 'Serves: the programs whose reports a split file helps.';

-- Debug files that came and whose reports are not queued yet. A row goes once no transaction runs that may have missed the file.
CREATE TABLE symbol_arrival (
    build_id   bytea       NOT NULL,
    app_id     integer     NOT NULL,
    arrived_at timestamptz NOT NULL DEFAULT now(),
    horizon    bigint,
    CONSTRAINT symbol_arrival_is_noted_once PRIMARY KEY (build_id, app_id)
);
COMMENT ON TABLE symbol_arrival IS 'Debug files that came and whose reports are not queued yet. Reference table.';
COMMENT ON COLUMN symbol_arrival.build_id IS 'Build id of the file.';
COMMENT ON COLUMN symbol_arrival.app_id IS 'App whose reports it names; 0: every app.';
COMMENT ON COLUMN symbol_arrival.arrived_at IS 'When it came.';
COMMENT ON COLUMN symbol_arrival.horizon IS 'Transactions below this number may have worked on reports without seeing the file; its reports are queued once they have ended. Null: not looked at yet.';
COMMENT ON INDEX symbol_arrival_is_noted_once IS 'Serves: noting an arrival.';

-- One row. A cache of what was not found holds as long as this number has not changed.
CREATE TABLE symbol_clock (
    one      boolean NOT NULL DEFAULT true,
    arrivals bigint  NOT NULL DEFAULT 0,
    CONSTRAINT symbol_clock_is_one_row PRIMARY KEY (one),
    CONSTRAINT symbol_clock_has_no_other_row CHECK (one)
);
COMMENT ON TABLE symbol_clock IS 'Counts arrivals of debug files. Reference table.';
COMMENT ON COLUMN symbol_clock.one IS 'True.';
COMMENT ON COLUMN symbol_clock.arrivals IS 'Goes up with every arrival: what was not found before may be there now.';
COMMENT ON INDEX symbol_clock_is_one_row IS 'Serves: nothing; it keeps the table to one row.';
INSERT INTO symbol_clock DEFAULT VALUES;
