/* {{ title }}, as an FMU for FMI 3.0 co-simulation. Written by prssm {{ version }}. */
#include <stdbool.h>

{% include "component.c" %}

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif
#ifdef FMI3_FUNCTION_PREFIX
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define NAMED(name) PASTE(FMI3_FUNCTION_PREFIX, name)
#else
#define NAMED(name) name
#endif

typedef uint32_t fmi3_reference;
typedef int fmi3_status; /* 0 ok, 1 warning, 2 discard, 3 error, 4 fatal */
typedef void (*fmi3_logger)(void *, fmi3_status, const char *, const char *);

static fmi3_status status_of(verdict status)
{
    return (status == SAY_OK) ? 0 : ((status == SAY_WARNING) ? 1 : 3);
}

static verdict say(component *instance, verdict status, const char *message)
{
    if (instance->log != NULL) {
        ((fmi3_logger)instance->log)(instance->environment, status_of(status),
                                     (status == SAY_ERROR) ? "logStatusError" : "logStatusWarning", message);
    }
    return status;
}

{% macro function(name, parameters) %}
EXPORTED fmi3_status NAMED(fmi3{{ name }})({{ parameters }});
EXPORTED fmi3_status NAMED(fmi3{{ name }})({{ parameters }})
{%- endmacro %}
EXPORTED const char *NAMED(fmi3GetVersion)(void);
EXPORTED const char *NAMED(fmi3GetVersion)(void)
{
    return "3.0";
}

EXPORTED void *NAMED(fmi3InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible, bool logging, bool event_mode, bool early_return, const fmi3_reference *required, size_t n_required, void *environment, fmi3_logger log, void (*intermediate)(void));
EXPORTED void *NAMED(fmi3InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible, bool logging, bool event_mode, bool early_return, const fmi3_reference *required, size_t n_required, void *environment, fmi3_logger log, void (*intermediate)(void))
{
    component *instance = make(name, environment, (void (*)(void))log);
    (void)resources;
    (void)visible;
    (void)logging;
    (void)event_mode;
    (void)early_return;
    (void)required;
    (void)n_required;
    (void)intermediate;
    if ((instance != NULL) && ((token == NULL) || (strcmp(token, "{{ token }}") != 0))) {
        (void)say(instance, SAY_ERROR, "expected the instantiationToken of modelDescription.xml");
        free(instance);
        instance = NULL;
    }
    return instance;
}

/* Other kinds of simulation are not offered. */
EXPORTED void *NAMED(fmi3InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, fmi3_logger log);
EXPORTED void *NAMED(fmi3InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, fmi3_logger log)
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    if (log != NULL) {
        log(environment, 3, "logStatusError", "expected co-simulation, got model exchange");
    }
    return NULL;
}

EXPORTED void *NAMED(fmi3InstantiateScheduledExecution)(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, fmi3_logger log, void (*update)(void), void (*lock)(void), void (*unlock)(void));
EXPORTED void *NAMED(fmi3InstantiateScheduledExecution)(const char *name, const char *token, const char *resources, bool visible, bool logging, void *environment, fmi3_logger log, void (*update)(void), void (*lock)(void), void (*unlock)(void))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)update;
    (void)lock;
    (void)unlock;
    if (log != NULL) {
        log(environment, 3, "logStatusError", "expected co-simulation, got scheduled execution");
    }
    return NULL;
}

EXPORTED void NAMED(fmi3FreeInstance)(void *instance);
EXPORTED void NAMED(fmi3FreeInstance)(void *instance)
{
    free(instance);
}

{{ function("SetDebugLogging", "void *c, bool on, size_t count, const char *const *categories") }}
{
    (void)c;
    (void)on;
    (void)count;
    (void)categories;
    return 0;
}

{{ function("EnterInitializationMode", "void *c, bool tolerance_defined, double tolerance, double start, bool stop_defined, double stop") }}
{
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    ((component *)c)->now.time = start;
    return status_of(enter_initialization(c));
}

{{ function("ExitInitializationMode", "void *c") }}
{
    return status_of(exit_initialization(c));
}

{{ function("EnterStepMode", "void *c") }}
{
    (void)c;
    return 0;
}

{{ function("EnterConfigurationMode", "void *c") }}
{
    (void)c;
    return 0;
}

{{ function("ExitConfigurationMode", "void *c") }}
{
    (void)c;
    return 0;
}

{{ function("Terminate", "void *c") }}
{
    ((component *)c)->now.phase = PHASE_ENDED;
    return 0;
}

{{ function("Reset", "void *c") }}
{
    reset(c);
    return 0;
}

{{ function("GetFloat64", "void *c, const fmi3_reference *references, size_t count, double *values, size_t n_values") }}
{
    verdict worst = (n_values == count) ? SAY_OK : say(c, SAY_ERROR, "expected one value a reference");
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = get_number(c, references[i], &values[i]);
    }
    return status_of(worst);
}

{{ function("SetFloat64", "void *c, const fmi3_reference *references, size_t count, const double *values, size_t n_values") }}
{
    verdict worst = (n_values == count) ? SAY_OK : say(c, SAY_ERROR, "expected one value a reference");
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = set_number(c, references[i], values[i]);
    }
    return status_of(worst);
}

{{ function("GetInt32", "void *c, const fmi3_reference *references, size_t count, int32_t *values, size_t n_values") }}
{
    verdict worst = (n_values == count) ? SAY_OK : say(c, SAY_ERROR, "expected one value a reference");
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = get_start(c, references[i], &values[i]);
    }
    return status_of(worst);
}

{{ function("SetInt32", "void *c, const fmi3_reference *references, size_t count, const int32_t *values, size_t n_values") }}
{
    verdict worst = (n_values == count) ? SAY_OK : say(c, SAY_ERROR, "expected one value a reference");
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = set_start(c, references[i], values[i]);
    }
    return status_of(worst);
}

{{ function("GetNumberOfVariableDependencies", "void *c, fmi3_reference reference, size_t *count") }}
{
    if ((reference < VR_OUTPUT) || (reference >= VR_START)) {
        return status_of(unknown_variable(c, reference, "expected an output"));
    }
    *count = DU;
    return 0;
}

{{ function("GetVariableDependencies", "void *c, fmi3_reference reference, size_t *elements, fmi3_reference *independents, size_t *independent_elements, int *kinds, size_t count") }}
{
    if ((reference < VR_OUTPUT) || (reference >= VR_START) || (count != DU)) {
        return status_of(unknown_variable(c, reference, "expected an output that depends on the inputs"));
    }
    for (size_t i = 0; i < count; ++i) {
        elements[i] = 0U;
        independents[i] = VR_INPUT + (fmi3_reference)i;
        independent_elements[i] = 0U;
        kinds[i] = 4; /* dependent */
    }
    return 0;
}

{% set state = "FMUState" %}
{% set byte = "uint8_t" %}
{% set deserialize = "DeserializeFMUState" %}
{% include "fmi_states.c" %}

{{ function("GetDirectionalDerivative", "void *c, const fmi3_reference *unknowns, size_t n_unknowns, const fmi3_reference *knowns, size_t n_knowns, const double *seed, size_t n_seed, double *sensitivity, size_t n_sensitivity") }}
{
    verdict worst = SAY_OK;
    if ((n_seed != n_knowns) || (n_sensitivity != n_unknowns)) {
        return status_of(say(c, SAY_ERROR, "expected one seed a known, one sensitivity an unknown"));
    }
    for (size_t i = 0; i < n_unknowns; ++i) {
        sensitivity[i] = 0.0;
        for (size_t j = 0; (j < n_knowns) && (worst == SAY_OK); ++j) {
            double slope = 0.0;
            worst = derivative(c, unknowns[i], knowns[j], &slope);
            sensitivity[i] += slope * seed[j];
        }
    }
    return status_of(worst);
}

{{ function("GetAdjointDerivative", "void *c, const fmi3_reference *unknowns, size_t n_unknowns, const fmi3_reference *knowns, size_t n_knowns, const double *seed, size_t n_seed, double *sensitivity, size_t n_sensitivity") }}
{
    verdict worst = SAY_OK;
    if ((n_seed != n_unknowns) || (n_sensitivity != n_knowns)) {
        return status_of(say(c, SAY_ERROR, "expected one seed an unknown, one sensitivity a known"));
    }
    for (size_t j = 0; j < n_knowns; ++j) {
        sensitivity[j] = 0.0;
        for (size_t i = 0; (i < n_unknowns) && (worst == SAY_OK); ++i) {
            double slope = 0.0;
            worst = derivative(c, unknowns[i], knowns[j], &slope);
            sensitivity[j] += slope * seed[i];
        }
    }
    return status_of(worst);
}

{{ function("DoStep", "void *c, double time, double size, bool no_way_back, bool *event, bool *terminate, bool *early, double *last") }}
{
    const verdict done = advance(c, time, size);
    (void)no_way_back;
    *event = false;
    *terminate = false;
    *early = false;
    *last = (done == SAY_OK) ? time + size : time;
    return status_of(done);
}

/* What the model has nothing of. */
{% for name, parameters in absent %}
{{ function(name, parameters) }}
{
{% for parameter in parameters.split(", ")[1:] %}
    (void){{ parameter.split()[-1].lstrip("*") }};
{% endfor %}
{% if "size_t count" in parameters %}
    if (count == 0U) {
        return 0;
    }
{% endif %}
    return status_of(say(c, SAY_ERROR, "fmi3{{ name }}: the model has nothing of this kind"));
}

{% endfor %}
