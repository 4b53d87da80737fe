-- 0009: rules for blame that an app's team wrote.

-- Versions of an app's rules; the one of the highest number holds. Rows are never changed or deleted.
CREATE TABLE app_rules (
    app_id  integer     NOT NULL,
    version bigint      NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    author  text        NOT NULL,
    reason  text        NOT NULL,
    rules   text        NOT NULL,
    CONSTRAINT app_rules_are_identified_by_app_and_number PRIMARY KEY (app_id, version),
    CONSTRAINT app_rules_count_from_one CHECK (version >= 1),
    CONSTRAINT app_rules_say_who_and_why CHECK (author <> '' AND reason <> '')
);
COMMENT ON TABLE app_rules IS 'Every set of rules an app ever had that are asked before the built-in packs; the one of the highest number holds. Rows are never changed or deleted. Reference table.';
COMMENT ON COLUMN app_rules.app_id IS 'App they are of.';
COMMENT ON COLUMN app_rules.version IS 'Number, counting up by one with every change.';
COMMENT ON COLUMN app_rules.made_at IS 'When they were made.';
COMMENT ON COLUMN app_rules.author IS 'Who made them.';
COMMENT ON COLUMN app_rules.reason IS 'Why, in the author''s words.';
COMMENT ON COLUMN app_rules.rules IS 'The rules, as server/src/feature/rules.h describes them, without a version line.';
COMMENT ON INDEX app_rules_are_identified_by_app_and_number IS 'Serves: the rules that hold, and those of a number.';

-- Libraries that reports of an app have. One of unknown owner, and that one app alone has, is proposed to its team
-- as the app's own. Rows are never deleted, so a proposal that another app made void does not come back.
CREATE TABLE app_module (
    app_id     integer     NOT NULL,
    module     text        NOT NULL,
    path       text        NOT NULL,
    unowned    boolean     NOT NULL,
    first_seen timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT app_module_is_counted_once PRIMARY KEY (app_id, module)
);
CREATE INDEX app_module_by_module ON app_module (module);
COMMENT ON TABLE app_module IS 'Libraries that reports of an app have, at most 4,096 an app. Reference table.';
COMMENT ON COLUMN app_module.app_id IS 'The app.';
COMMENT ON COLUMN app_module.module IS 'Base name of the module without the version of a library: libcart.so.';
COMMENT ON COLUMN app_module.path IS 'Its path on the device of the report that named it first.';
COMMENT ON COLUMN app_module.unowned IS 'In some report of the app its owner was unknown, and it was on a stack.';
COMMENT ON COLUMN app_module.first_seen IS 'When the first of those reports was worked on.';
COMMENT ON INDEX app_module_is_counted_once IS 'Serves: the modules of an app.';
COMMENT ON INDEX app_module_by_module IS 'Serves: whether other apps have a module.';
