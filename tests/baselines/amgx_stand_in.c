/* A stand-in for AmgX's C interface, with the types of its header: it answers "bad parameters" to a handle of another kind, to
 * blocks or a mode that were not agreed on and to calls out of order, solves by Gauss and Seidel's iteration from zero, adds
 * the solution to x as AmgX does, and notes what was called. */

#include <stdlib.h>
#include <string.h>

enum { OK, BAD, CONFIG = 11, RESOURCES, MATRIX, VECTOR, SOLVER };
typedef struct { int kind, n, nnz, rows_known; const int *offsets, *columns; const double *values; double *x; } thing;
typedef thing *handle;

char calls[1 << 16], settings[1 << 12];
int alive, status, answer_of_create, answer_of_setup, answer_of_solve;
static int initialised;
static void (*told)(const char *, int);

static int note(const char *name, int good) { return strcat(strcat(calls, name), ";"), good ? OK : BAD; }
static int is(handle h, int kind) { return h && h->kind == kind; }
static int made(handle *where, int kind, const char *name, int good)
{
    if (good) *where = calloc(1, sizeof(thing)), (*where)->kind = kind, ++alive;
    return note(name, good);
}
static int gone(handle h, int kind, const char *name)
{
    const int good = is(h, kind);
    if (good) free(h->x), h->kind = 0, --alive;
    return note(name, good);
}

int AMGX_register_print_callback(void (*function)(const char *, int)) { told = function; return OK; }
int AMGX_initialize(void) { told("a stand-in\n", 11); return note("initialize", !initialised++); }
int AMGX_get_error_string(int code, char *text, int size) { return strncpy(text, code == BAD ? "bad parameters" : "out of luck", size), OK; }
int AMGX_config_create(handle *h, const char *text) { strncpy(settings, text, sizeof settings - 1); return made(h, CONFIG, "config_create", 1); }
int AMGX_config_destroy(handle h) { return gone(h, CONFIG, "config_destroy"); }
int AMGX_resources_create_simple(handle *h, handle config) { return made(h, RESOURCES, "resources_create", is(config, CONFIG)); }
int AMGX_resources_destroy(handle h) { return gone(h, RESOURCES, "resources_destroy"); }
int AMGX_matrix_create(handle *h, handle r, int mode) { return made(h, MATRIX, "matrix_create", is(r, RESOURCES) && mode == 8193); }
int AMGX_matrix_destroy(handle h) { return gone(h, MATRIX, "matrix_destroy"); }
int AMGX_matrix_upload_all(handle h, int n, int nnz, int rows, int columns, const int *offsets, const int *places,
                           const void *values, const void *diagonal)
{
    if (is(h, MATRIX)) h->n = n, h->nnz = nnz, h->offsets = offsets, h->columns = places, h->values = values;
    return note("matrix_upload_all", is(h, MATRIX) && rows == 1 && columns == 1 && !diagonal && offsets[n] == nnz);
}
int AMGX_vector_create(handle *h, handle r, int mode) { return made(h, VECTOR, "vector_create", is(r, RESOURCES) && mode == 8193); }
int AMGX_vector_destroy(handle h) { return gone(h, VECTOR, "vector_destroy"); }
static int set(handle h, int n, int block, const void *values, const char *name)
{
    const int good = is(h, VECTOR) && block == 1;
    if (good) free(h->x), h->n = n, h->x = calloc(n, sizeof(double));
    if (good && values) memcpy(h->x, values, n * sizeof(double));
    return note(name, good);
}
int AMGX_vector_upload(handle h, int n, int block, const void *values) { return set(h, n, block, values, "vector_upload"); }
int AMGX_vector_set_zero(handle h, int n, int block) { return set(h, n, block, 0, "vector_set_zero"); }
int AMGX_vector_download(handle h, void *to) { return memcpy(to, h->x, h->n * sizeof(double)), note("vector_download", is(h, VECTOR)); }
int AMGX_solver_create(handle *h, handle r, int mode, handle config)
{
    if (answer_of_create) return answer_of_create;
    return made(h, SOLVER, "solver_create", is(r, RESOURCES) && mode == 8193 && is(config, CONFIG));
}
int AMGX_solver_destroy(handle h) { return gone(h, SOLVER, "solver_destroy"); }
int AMGX_solver_setup(handle h, handle a)
{
    const int good = is(h, SOLVER) && is(a, MATRIX);
    if (good) h->n = a->n, h->offsets = a->offsets, h->columns = a->columns, h->values = a->values;
    return answer_of_setup ? answer_of_setup : note("solver_setup", good);
}
int AMGX_solver_solve_with_0_initial_guess(handle h, handle b, handle x)
{
    if (!is(h, SOLVER) || !is(b, VECTOR) || !is(x, VECTOR) || b == x || !h->n) return note("solve", 0);
    if (answer_of_solve) return answer_of_solve;
    double *const found = calloc(h->n, sizeof(double));
    for (int step = 0; step < 400; ++step)
        for (int i = 0; i < h->n; ++i) {
            double rest = b->x[i], pivot = 1;
            for (int e = h->offsets[i]; e < h->offsets[i + 1]; ++e)
                if (h->columns[e] == i) pivot = h->values[e];
                else rest -= h->values[e] * found[h->columns[e]];
            found[i] = rest / pivot;
        }
    for (int i = 0; i < h->n; ++i) x->x[i] += found[i];
    free(found);
    return note("solve", 1);
}
int AMGX_solver_get_iterations_number(handle h, int *count) { *count = 7; return is(h, SOLVER) ? OK : BAD; }
int AMGX_solver_get_status(handle h, int *found) { *found = status; return is(h, SOLVER) ? OK : BAD; }
