/* doctor_secrets.c - the finding about secrets: are they sealed, and by a key that is there? */
#include "daemon/doctor.h"

#include "base/fault.h"
#include "base/vault.h"
#include "rows/secret.h"

static void add(struct findings *out, enum finding_grade grade, const char *next, const char *text, const char *path,
                int64_t n)
{
    findings_add(out, (struct server_finding){.about = "secrets",
                                              .grade = grade,
                                              .next = next,
                                              .text = text,
                                              .values = {{.name = "n", .number = n}, {.name = "path", .text = path}}});
}

struct seals {
    int64_t current, older, open, lost; /* by the first key, by another, not sealed, and not to be opened */
};

static int count(struct seals *out, const struct vault *vault, struct arena *arena, const struct secret_row *all,
                 size_t many)
{
    const char *plain;

    for (size_t i = 0; i < many; i++) {
        const struct secret_row *one = &all[i];
        int rc = vault_is_sealed(one->text) ? vault_unseal(&plain, vault, arena, one->purpose, one->app, one->text) : 0;
        if (rc < 0)
            return rc;
        if (rc)
            out->lost++;
        else if (!vault_is_sealed(one->text))
            out->open++;
        else if (vault_is_current(vault, one->text))
            out->current++;
        else
            out->older++;
    }
    return 0;
}

static void judge(struct findings *out, const struct vault *vault, const struct seals *seals, const char *path)
{
    if (seals->lost)
        add(out, MIRE_FINDING_BAD,
            "add the line of the key that sealed them to the file and restart mired, or set tracker and channels again",
            "{n} cannot be opened by the keys of {path}", path, seals->lost);
    else if (vault_is_shared(vault))
        add(out, MIRE_FINDING_LOOK, "chmod 600, and chown to the user who runs mired",
            "{path} can be read by others than its owner", path, 0);
    else if (seals->open + seals->older)
        add(out, MIRE_FINDING_LOOK, "restart mired: it seals them at its start",
            "{n} are not sealed by the first key of {path}", path, seals->open + seals->older);
    else
        add(out, MIRE_FINDING_OK, "", "{n}, sealed by the first key of {path}", path, seals->current);
}

int doctor_add_secrets(struct findings *out, struct arena *arena, const struct config *config, struct pg_tx *tx)
{
    struct problem problem = MIRE_PROBLEM_INIT;
    struct seals seals = {0};
    struct secret_row *all;
    struct vault *vault;
    char place[MIRE_SETTING_MAX];
    size_t many = 0;
    int rc = rows_secret_list(&all, &many, tx, arena);

    config_secret_key_file(place, config);
    const char *path = rc ? NULL : arena_strdup(arena, place);
    if (rc || !path)
        return rc ? rc : MIRE_FAULT_MEMORY;
    if (vault_open(&vault, &problem, path)) {
        add(out, many ? MIRE_FINDING_BAD : MIRE_FINDING_LOOK,
            "run mired doctor as the user who runs mired; if the file is gone, restore it from its backup",
            "{n} are stored, and {path} cannot be read as a key file", path, (int64_t)many);
        return 0;
    }
    rc = count(&seals, vault, arena, all, many);
    if (!rc)
        judge(out, vault, &seals, path);
    vault_close(vault);
    return rc;
}
