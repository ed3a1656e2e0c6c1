/* One instance of the FMU, the same for both versions of the standard. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prssm_model.h"

#define DU PRSSM_INPUTS
#define DY PRSSM_OUTPUTS
#define FIRST_SAMPLES (PRSSM_WINDOW * (DU + DY))
#define HAS_BAND {{ 1 if band else 0 }}

/* Value references, as in modelDescription.xml. */
#define VR_TIME 0U
#define VR_INPUT 1U
#define VR_OUTPUT (VR_INPUT + DU)
#define VR_STD (VR_OUTPUT + DY)
#define VR_START (VR_STD + (HAS_BAND * DY))
#define VR_FIRST (VR_START + 1U)
#define VR_END (VR_FIRST + FIRST_SAMPLES)

/* Values of the parameter `start`. */
#define START_AT_REST 0
#define START_UNKNOWN 1
#define START_FIRST_SAMPLES 2

static const double INPUT_START[DU + 1] = {{ input_start | numbers }};
static const double FIRST_START[FIRST_SAMPLES + 1] = {{ first_start | numbers }};

typedef enum { PHASE_MADE, PHASE_INITIALIZING, PHASE_RUNNING, PHASE_ENDED } phase_kind;

/* All that a run is: it can be copied, and written to a file byte by byte. */
typedef struct {
    prssm_state state;
    double u[DU + 1];
    double first[FIRST_SAMPLES + 1]; /* inputs of all rows, then outputs */
    double time;
    int32_t start;
    int32_t begun; /* whether `state` fits the start values */
    int32_t phase;
} snapshot;

typedef struct {
    snapshot now;
    void *environment;
    void (*log)(void); /* the importer's; its type is that of the version */
    char name[128];
} component;

typedef enum { SAY_OK, SAY_WARNING, SAY_ERROR } verdict;

/* Tell the importer; the verdict is returned. */
static verdict say(component *instance, verdict status, const char *message);

static void reset(component *instance)
{
    memset(&instance->now, 0, sizeof(instance->now));
    memcpy(instance->now.u, INPUT_START, sizeof(INPUT_START));
    memcpy(instance->now.first, FIRST_START, sizeof(FIRST_START));
    instance->now.start = START_AT_REST;
    instance->now.phase = PHASE_MADE;
}

static component *make(const char *name, void *environment, void (*log)(void))
{
    component *instance = calloc(1, sizeof(component));
    if (instance != NULL) {
        instance->environment = environment;
        instance->log = log;
        (void)snprintf(instance->name, sizeof(instance->name), "%s", (name == NULL) ? "" : name);
        reset(instance);
    }
    return instance;
}

static void copy_reals(const double *from, prssm_real *to, int count)
{
    for (int i = 0; i < count; ++i) {
        to[i] = (prssm_real)from[i];
    }
}

/* The state that the start values ask for, if it is not there yet. */
static verdict begin(component *instance)
{
    snapshot *now = &instance->now;
    prssm_real u[DU + 1];
    prssm_real first[FIRST_SAMPLES + 1];
    int code = PRSSM_OK;
    if (now->begun != 0) {
        return SAY_OK;
    }
    copy_reals(now->u, u, DU);
    copy_reals(now->first, first, FIRST_SAMPLES);
    if (now->start == START_AT_REST) {
        code = prssm_init_steady(&now->state, u);
    } else if (now->start == START_FIRST_SAMPLES) {
        code = prssm_init(&now->state, first, first + (PRSSM_WINDOW * DU));
    } else {
        prssm_init_prior(&now->state);
    }
    now->begun = 1;
    if (code == PRSSM_NO_EQUILIBRIUM) {
        return say(instance, SAY_WARNING,
                   "start: no equilibrium was found under the inputs; starting from the prior");
    }
    return SAY_OK;
}

static verdict enter_initialization(component *instance)
{
    if (instance->now.phase != PHASE_MADE) {
        return say(instance, SAY_ERROR, "expected a new instance, or one that was reset");
    }
    instance->now.phase = PHASE_INITIALIZING;
    return SAY_OK;
}

static verdict exit_initialization(component *instance)
{
    if (instance->now.phase != PHASE_INITIALIZING) {
        return say(instance, SAY_ERROR, "expected the initialization mode");
    }
    instance->now.phase = PHASE_RUNNING;
    return begin(instance);
}

static verdict unknown_variable(component *instance, uint32_t reference, const char *what)
{
    char message[160];
    (void)snprintf(message, sizeof(message), "value reference %lu: %s", (unsigned long)reference, what);
    return say(instance, SAY_ERROR, message);
}

static verdict get_number(component *instance, uint32_t reference, double *value)
{
    const snapshot *now = &instance->now;
    if (reference == VR_TIME) {
        *value = now->time;
    } else if (reference < VR_OUTPUT) {
        *value = now->u[reference - VR_INPUT];
    } else if (reference < VR_START) {
        prssm_real u[DU + 1];
        prssm_real mean[DY];
        prssm_real std[DY];
        (void)begin(instance);
        copy_reals(now->u, u, DU);
        prssm_output(&now->state, u, mean, std);
        *value = (double)((reference < VR_STD) ? mean[reference - VR_OUTPUT] : std[(reference - VR_STD) % DY]);
    } else if ((reference >= VR_FIRST) && (reference < VR_END)) {
        *value = now->first[reference - VR_FIRST];
    } else {
        return unknown_variable(instance, reference, "no such number");
    }
    return SAY_OK;
}

static verdict set_number(component *instance, uint32_t reference, double value)
{
    snapshot *now = &instance->now;
    const int before = (now->phase == PHASE_MADE) || (now->phase == PHASE_INITIALIZING);
    if (!(fabs(value) <= 1e300)) {
        return unknown_variable(instance, reference, "expected a finite number");
    }
    if ((reference >= VR_INPUT) && (reference < VR_OUTPUT)) {
        now->u[reference - VR_INPUT] = value;
    } else if ((reference >= VR_FIRST) && (reference < VR_END) && before) {
        now->first[reference - VR_FIRST] = value;
    } else {
        return unknown_variable(instance, reference, "expected an input, or a parameter before the start");
    }
    if (before) {
        now->begun = 0;
    }
    return SAY_OK;
}

static verdict get_start(component *instance, uint32_t reference, int32_t *value)
{
    if (reference != VR_START) {
        return unknown_variable(instance, reference, "no such integer");
    }
    *value = instance->now.start;
    return SAY_OK;
}

static verdict set_start(component *instance, uint32_t reference, int32_t value)
{
    const int last = (PRSSM_WINDOW > 0) ? START_FIRST_SAMPLES : START_UNKNOWN;
    if ((reference != VR_START) || (instance->now.phase > PHASE_INITIALIZING)) {
        return unknown_variable(instance, reference, "expected the parameter start, before the start");
    }
    if ((value < START_AT_REST) || (value > last)) {
        return unknown_variable(instance, reference, "expected one of the ways to start");
    }
    instance->now.start = value;
    instance->now.begun = 0;
    return SAY_OK;
}

/* One communication step: as many steps of the model as fit, which must be a whole number. */
static verdict advance(component *instance, double time, double size)
{
    snapshot *now = &instance->now;
    const double exact = size / PRSSM_STEP_SIZE;
    const double whole = floor(exact + 0.5);
    prssm_real u[DU + 1];
    if (now->phase != PHASE_RUNNING) {
        return say(instance, SAY_ERROR, "expected an initialized instance");
    }
    if (!(whole >= 1.0) || !(whole < 1e9) || (fabs(exact - whole) > 1e-6 * whole)) {
        char message[160];
        (void)snprintf(message, sizeof(message),
                       "communication step: expected a multiple of the model's step of %.12g s, got %.12g s",
                       (double)PRSSM_STEP_SIZE, size);
        return say(instance, SAY_ERROR, message);
    }
    copy_reals(now->u, u, DU);
    for (long step = 0; step < (long)whole; ++step) {
        prssm_real mean[DY];
        prssm_step(&now->state, u, mean, NULL);
    }
    now->time = time + size;
    return SAY_OK;
}

/* The derivative of an output by an input. */
static verdict derivative(component *instance, uint32_t unknown, uint32_t known, double *value)
{
{% if inputs %}
    prssm_real u[DU + 1];
    prssm_real d_mean[DY * DU];
    prssm_real d_std[DY * DU];
    if ((unknown >= VR_OUTPUT) && (unknown < VR_START) && (known >= VR_INPUT) && (known < VR_OUTPUT)) {
        const uint32_t column = known - VR_INPUT;
        (void)begin(instance);
        copy_reals(instance->now.u, u, DU);
        prssm_output_slope(&instance->now.state, u, d_mean, d_std);
        *value = (double)((unknown < VR_STD) ? d_mean[(unknown - VR_OUTPUT) * DU + column]
                                             : d_std[((unknown - VR_STD) % DY) * DU + column]);
        return SAY_OK;
    }
{% else %}
    (void)known;
    *value = 0.0;
{% endif %}
    return unknown_variable(instance, unknown, "expected derivatives of outputs by inputs");
}

/* Copies of a run, and the same as bytes. */
static verdict keep(component *instance, void **copy)
{
    if (*copy == NULL) {
        *copy = malloc(sizeof(snapshot));
    }
    if (*copy == NULL) {
        return say(instance, SAY_ERROR, "no memory for a copy of the state");
    }
    memcpy(*copy, &instance->now, sizeof(snapshot));
    return SAY_OK;
}

static verdict take_back(component *instance, const void *copy)
{
    if (copy == NULL) {
        return say(instance, SAY_ERROR, "expected a copy of the state, got none");
    }
    memcpy(&instance->now, copy, sizeof(snapshot));
    return SAY_OK;
}

static verdict to_bytes(component *instance, const void *copy, void *bytes, size_t size)
{
    if ((copy == NULL) || (size < sizeof(snapshot))) {
        return say(instance, SAY_ERROR, "expected a copy of the state and room for it");
    }
    memcpy(bytes, copy, sizeof(snapshot));
    return SAY_OK;
}

static verdict from_bytes(component *instance, const void *bytes, size_t size, void **copy)
{
    if (size != sizeof(snapshot)) {
        return say(instance, SAY_ERROR, "expected the bytes of a state of this model");
    }
    if (*copy == NULL) {
        *copy = malloc(sizeof(snapshot));
    }
    if (*copy == NULL) {
        return say(instance, SAY_ERROR, "no memory for a copy of the state");
    }
    memcpy(*copy, bytes, sizeof(snapshot));
    return SAY_OK;
}
