/*
 * line_names.c - reads the directories and files of a line table, and joins them to paths.
 */
#include "dwarf/line_program.h"

#include "base/grow.h"

#define FORMATS_MAX 16 /* properties of a file or directory in a DWARF 5 table */
#define PATH_PARTS  3

enum { CONTENT_PATH = 1, CONTENT_DIRECTORY };

const char *line_program_text(struct line_program *program)
{
    const char *text = (const char *)program->p;
    size_t len = program->p < program->end ? strnlen(text, (size_t)(program->end - program->p)) : 0;
    if (program->p >= program->end || program->p + len >= program->end)
        return NULL;
    program->p += len + 1;
    return text;
}

static bool add_directory(struct lines *lines, const char *name)
{
    if (!GROW(&lines->directories))
        return false;
    lines->directories.rows[lines->directories.count++] = name;
    return true;
}

bool line_file_add(struct lines *lines, const char *name, uint64_t directory)
{
    if (!GROW(&lines->files))
        return false;
    lines->files.rows[lines->files.count++] = (struct line_file){name, directory};
    return true;
}

/* Read the lists of directories and files up to DWARF 4. Returns 0, 1: damaged, -1: out of memory. */
static int read_names_old(struct line_program *program)
{
    const struct hidden *hidden = program->shape.dwarf->object->hidden;
    const char *name;
    while ((name = line_program_text(program)) && *name)
        if (!add_directory(program->lines, hidden_name(hidden, name)))
            return -1;
    if (!name)
        return 1;
    while ((name = line_program_text(program)) && *name) {
        uint64_t directory = load_uleb(&program->p);
        skip_leb(&program->p); /* time */
        skip_leb(&program->p); /* length */
        if (!line_file_add(program->lines, hidden_name(hidden, name), directory))
            return -1;
    }
    return name ? 0 : 1;
}

/* Read one list of DWARF 5. */
static int read_names_new(struct line_program *program, bool directories)
{
    struct unit_step steps[FORMATS_MAX];
    uint64_t contents[FORMATS_MAX];
    unsigned format_count = *program->p++;
    if (format_count > FORMATS_MAX)
        return 1;
    for (unsigned i = 0; i < format_count; i++) {
        contents[i] = load_uleb(&program->p);
        if (!step_of_form(&steps[i], load_uleb(&program->p), &program->shape) || steps[i].operation == STEP_CONSTANT)
            return 1;
        steps[i].attribute = steps[i].operation == STEP_SKIP    ? AT_NONE
                             : contents[i] == CONTENT_PATH      ? AT_NAME
                             : contents[i] == CONTENT_DIRECTORY ? AT_DIRECTORY
                                                                : AT_NONE;
        if (steps[i].attribute == AT_NONE)
            steps[i].attribute = AT_DECLARATION; /* fetched and ignored */
    }
    struct abbrevs table = {.steps = {.rows = steps}};
    struct abbrev abbrev = {.step_count = (uint16_t)format_count};
    program->shape.abbrevs = &table;
    uint64_t count = load_uleb(&program->p);
    for (uint64_t i = 0; i < count; i++) {
        struct die die;
        if (program->p >= program->end || !format_count)
            return 1;
        const uint8_t *before = program->p;
        program->p = die_read(&die, before, program->end, &program->shape, &abbrev);
        if (!program->p || program->p == before) /* damaged, or an endless list of empty entries */
            return 1;
        const char *name =
            die_has(&die, AT_NAME) ? value_text(&program->shape, die.form[AT_NAME], die.raw[AT_NAME]) : NULL;
        uint64_t directory = die_has(&die, AT_DIRECTORY) ? die.raw[AT_DIRECTORY] : 0;
        if (directories ? !add_directory(program->lines, name ? name : "")
                        : !line_file_add(program->lines, name ? name : "", directory))
            return -1;
    }
    return 0;
}

int line_names_read(struct line_program *program)
{
    if (program->lines->version < 5)
        return read_names_old(program);
    int rc = read_names_new(program, true);
    return rc ? rc : read_names_new(program, false);
}

size_t lines_file_index(const struct lines *lines, uint64_t file)
{
    if (lines->version < 5 && !file--)
        return SIZE_MAX;
    return file < lines->files.count ? (size_t)file : SIZE_MAX;
}

static bool is_absolute(const char *path)
{
    bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');
    return path[0] == '/' || path[0] == '\\' || (letter && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));
}

size_t lines_path(char *out, size_t room, const struct lines *lines, const struct unit *unit, uint64_t file)
{
    const char *parts[PATH_PARTS];
    size_t part_count = 0;
    size_t len = 0;
    size_t index = lines_file_index(lines, file);
    if (index == SIZE_MAX)
        return 0;
    const struct line_file *row = &lines->files.rows[index];
    bool old = lines->version < 5;
    const char *directory = "";
    if (!is_absolute(row->name)) {
        /* Directory 0 is the compiler's working directory. It is in the list from DWARF 5 on. */
        uint64_t number = old ? row->directory - 1 : row->directory;
        if (number < lines->directories.count)
            directory = lines->directories.rows[number];
        if ((old || row->directory) && !is_absolute(directory) && unit->directory[0])
            parts[part_count++] = unit->directory;
        if (directory[0])
            parts[part_count++] = directory;
    }
    parts[part_count++] = row->name;
    for (size_t i = 0; i < part_count; i++) {
        const char *part = parts[i];
        if (len && out[len - 1] != '/')
            out[len++] = '/';
        else if (len)
            part += strspn(part, "/");
        size_t part_len = strnlen(part, MIRE_DWARF_NAME_MAX);
        if (part_len + 2 > room - len)
            return 0;
        memcpy(out + len, part, part_len);
        len += part_len;
    }
    out[len++] = '\0';
    return len;
}
