-- 0016: the tracker of an app, and the tickets made there for its issues.

-- Where tickets of an app are made. One an app.
CREATE TABLE tracker (
    app_id           integer     NOT NULL,
    kind             text        NOT NULL,
    address          text        NOT NULL,
    project          text        NOT NULL,
    token            text        NOT NULL,
    secret           text        NOT NULL,
    closed_resolves  boolean     NOT NULL,
    reopened_opens   boolean     NOT NULL,
    made_by          text        NOT NULL,
    made_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tracker_is_one_of_an_app PRIMARY KEY (app_id),
    CONSTRAINT tracker_has_a_known_kind CHECK (kind IN ('github', 'gitlab', 'jira', 'linear')),
    CONSTRAINT tracker_is_complete CHECK (address <> '' AND project <> '' AND token <> '' AND secret <> '')
);
COMMENT ON TABLE tracker IS 'The tracker in which tickets of an app are made. Reference table.';
COMMENT ON COLUMN tracker.app_id IS 'App it is of.';
COMMENT ON COLUMN tracker.kind IS 'github, gitlab, jira or linear.';
COMMENT ON COLUMN tracker.address IS 'Address of its API, without a slash at the end.';
COMMENT ON COLUMN tracker.project IS 'github: owner/name; gitlab: path or number of the project; jira: key of the project; linear: id of the team.';
COMMENT ON COLUMN tracker.token IS 'Secret with which tickets are made, sealed (server/src/base/vault.h). The API never shows it.';
COMMENT ON COLUMN tracker.secret IS 'Sealed: the secret that signs calls of the tracker''s webhook; of gitlab the token that they bear.';
COMMENT ON COLUMN tracker.closed_resolves IS 'Closing a ticket resolves its issue in the newest version.';
COMMENT ON COLUMN tracker.reopened_opens IS 'Reopening a ticket opens its issue.';
COMMENT ON COLUMN tracker.made_by IS 'Who set it last.';
COMMENT ON COLUMN tracker.made_at IS 'When.';
COMMENT ON INDEX tracker_is_one_of_an_app IS 'Serves: the tracker of an app.';

-- Tickets to make and made. A ticket is written with its text; a thread of the server makes it in the tracker. An attempt is
-- committed before the tracker is called, so that a later one knows that the ticket may be there, and looks for it first.
CREATE TABLE ticket (
    ticket_id  uuid        NOT NULL,
    app_id     integer     NOT NULL,
    issue_id   bigint      NOT NULL,
    kind       text        NOT NULL,
    title      text        NOT NULL,
    body       text        NOT NULL,
    made_by    text        NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now(),
    due_at     timestamptz NOT NULL DEFAULT now(),
    tries      integer     NOT NULL DEFAULT 0,
    attempt    uuid,
    state      text        NOT NULL DEFAULT 'waiting',
    remote_id  text        NOT NULL DEFAULT '',
    name       text        NOT NULL DEFAULT '',
    url        text        NOT NULL DEFAULT '',
    changed_at timestamptz NOT NULL DEFAULT '-infinity',
    fault      text        NOT NULL DEFAULT '',
    CONSTRAINT ticket_is_identified_by_its_id PRIMARY KEY (ticket_id),
    CONSTRAINT ticket_has_a_known_kind CHECK (kind IN ('github', 'gitlab', 'jira', 'linear')),
    CONSTRAINT ticket_has_a_known_state CHECK (state IN ('waiting', 'failed', 'open', 'closed')),
    CONSTRAINT ticket_that_was_made_has_an_address CHECK (state IN ('waiting', 'failed') OR url <> '')
);
CREATE UNIQUE INDEX ticket_of_an_issue_is_one ON ticket (app_id, issue_id) WHERE state <> 'failed';
CREATE INDEX ticket_to_make ON ticket (due_at) WHERE state = 'waiting';
CREATE INDEX ticket_in_the_tracker ON ticket (app_id, remote_id) WHERE remote_id <> '';
COMMENT ON TABLE ticket IS 'Tickets of issues in an app''s tracker. Reference table.';
COMMENT ON COLUMN ticket.ticket_id IS 'UUIDv7; stands in the ticket, so that it is found there.';
COMMENT ON COLUMN ticket.app_id IS 'App.';
COMMENT ON COLUMN ticket.issue_id IS 'Issue it is about.';
COMMENT ON COLUMN ticket.kind IS 'Kind of the tracker, as tracker.kind.';
COMMENT ON COLUMN ticket.title IS 'Title of the ticket.';
COMMENT ON COLUMN ticket.body IS 'Text of the ticket, Markdown.';
COMMENT ON COLUMN ticket.made_by IS 'Who asked for it.';
COMMENT ON COLUMN ticket.made_at IS 'When.';
COMMENT ON COLUMN ticket.due_at IS 'When it is made next, not before; while an attempt runs, when another may begin.';
COMMENT ON COLUMN ticket.tries IS 'Attempts begun.';
COMMENT ON COLUMN ticket.attempt IS 'The attempt begun last; null: none.';
COMMENT ON COLUMN ticket.state IS 'waiting (to be made), failed (given up), open or closed (in the tracker).';
COMMENT ON COLUMN ticket.remote_id IS 'Its id in the tracker; empty until it is made.';
COMMENT ON COLUMN ticket.name IS 'Name by which people call it: #12, SHOP-12; empty until it is made.';
COMMENT ON COLUMN ticket.url IS 'Address of its page; empty until it is made.';
COMMENT ON COLUMN ticket.changed_at IS 'Time of the newest change that the tracker reported; an older one is ignored.';
COMMENT ON COLUMN ticket.fault IS 'Why the last attempt failed; empty if none did.';
COMMENT ON INDEX ticket_is_identified_by_its_id IS 'Serves: marking a ticket.';
COMMENT ON INDEX ticket_of_an_issue_is_one IS 'Serves: the ticket of an issue, and that it has one.';
COMMENT ON INDEX ticket_to_make IS 'Serves: finding the next ticket that is due.';
COMMENT ON INDEX ticket_in_the_tracker IS 'Serves: the ticket that a call of the webhook is about.';
