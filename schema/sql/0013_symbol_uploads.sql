-- 0013: debug files that are sent in parts.

CREATE TABLE symbol_upload (
    hash       bytea       NOT NULL,
    size_bytes bigint      NOT NULL,
    have_bytes bigint      NOT NULL DEFAULT 0,
    name       text        NOT NULL,
    begun_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT symbol_upload_is_identified_by_its_hash PRIMARY KEY (hash),
    CONSTRAINT symbol_upload_hash_is_blake2b_256 CHECK (octet_length(hash) = 32),
    CONSTRAINT symbol_upload_has_no_more_than_its_size CHECK (have_bytes BETWEEN 0 AND size_bytes)
);
COMMENT ON TABLE symbol_upload IS 'Debug files that have come in part; a row goes when the file is whole, or after a day. Reference table.';
COMMENT ON COLUMN symbol_upload.hash IS 'BLAKE2b-256 of the whole file.';
COMMENT ON COLUMN symbol_upload.size_bytes IS 'Size of the whole file, bytes.';
COMMENT ON COLUMN symbol_upload.have_bytes IS 'How much of it has come, from its beginning, bytes.';
COMMENT ON COLUMN symbol_upload.name IS 'File name it is sent under.';
COMMENT ON COLUMN symbol_upload.begun_at IS 'When its first part came.';
COMMENT ON INDEX symbol_upload_is_identified_by_its_hash IS 'Serves: going on with an upload.';

CREATE TABLE symbol_upload_piece (
    hash  bytea   NOT NULL,
    part  integer NOT NULL,
    bytes bytea   NOT NULL,
    CONSTRAINT symbol_upload_piece_is_identified_by_file_and_part PRIMARY KEY (hash, part)
);
ALTER TABLE symbol_upload_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE symbol_upload_piece IS 'What has come of them, in pieces as in symbol_chunk. Reference table.';
COMMENT ON COLUMN symbol_upload_piece.hash IS 'Hash of the file.';
COMMENT ON COLUMN symbol_upload_piece.part IS 'Number of the piece, from 0.';
COMMENT ON COLUMN symbol_upload_piece.bytes IS 'The piece: a zstd frame of at most 1 MiB of the file.';
COMMENT ON INDEX symbol_upload_piece_is_identified_by_file_and_part IS 'Serves: putting the file together.';
