-- Planned checks for one session: plan(count), ok(claim, holds), refused(claim, statement), done().
CREATE TEMP TABLE checks (planned integer, made integer NOT NULL DEFAULT 0);

CREATE FUNCTION pg_temp.plan(count integer) RETURNS void LANGUAGE sql AS 'INSERT INTO checks (planned) VALUES (count)';

CREATE FUNCTION pg_temp.ok(claim text, holds boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF holds IS NOT TRUE THEN
        RAISE EXCEPTION 'does not hold: %', claim;
    END IF;
    UPDATE checks SET made = made + 1;
END $$;

-- The statement must break the named constraint.
CREATE FUNCTION pg_temp.refused(rule text, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    broken text;
BEGIN
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN integrity_constraint_violation THEN
        GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
    END;
    PERFORM pg_temp.ok(rule, broken = rule);
END $$;

CREATE FUNCTION pg_temp.done() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c checks;
BEGIN
    SELECT * INTO c FROM checks;
    IF c.planned <> c.made THEN
        RAISE EXCEPTION 'planned % checks, made %', c.planned, c.made;
    END IF;
END $$;
