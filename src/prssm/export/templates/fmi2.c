/* {{ title }}, as an FMU for FMI 2.0 co-simulation. Written by prssm {{ version }}. */
{% include "component.c" %}

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif
#ifdef FMI2_FUNCTION_PREFIX
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define NAMED(name) PASTE(FMI2_FUNCTION_PREFIX, name)
#else
#define NAMED(name) name
#endif

typedef unsigned int fmi2_reference;
typedef int fmi2_status; /* 0 ok, 1 warning, 2 discard, 3 error, 4 fatal, 5 pending */
typedef void (*fmi2_logger)(void *, const char *, fmi2_status, const char *, const char *, ...);
typedef struct {
    fmi2_logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, fmi2_status);
    void *environment;
} fmi2_callbacks;

static fmi2_status status_of(verdict status)
{
    return (status == SAY_OK) ? 0 : ((status == SAY_WARNING) ? 1 : 3);
}

static verdict say(component *instance, verdict status, const char *message)
{
    if (instance->log != NULL) { /* no message has a per cent sign, which would be a format */
        ((fmi2_logger)instance->log)(instance->environment, instance->name, status_of(status),
                                     (status == SAY_ERROR) ? "logStatusError" : "logStatusWarning",
                                     message);
    }
    return status;
}

{% macro function(name, parameters) %}
EXPORTED fmi2_status NAMED(fmi2{{ name }})({{ parameters }});
EXPORTED fmi2_status NAMED(fmi2{{ name }})({{ parameters }})
{%- endmacro %}
EXPORTED const char *NAMED(fmi2GetTypesPlatform)(void);
EXPORTED const char *NAMED(fmi2GetTypesPlatform)(void)
{
    return "default";
}

EXPORTED const char *NAMED(fmi2GetVersion)(void);
EXPORTED const char *NAMED(fmi2GetVersion)(void)
{
    return "2.0";
}

EXPORTED void *NAMED(fmi2Instantiate)(const char *name, int kind, const char *guid, const char *resources,
                                      const fmi2_callbacks *functions, int visible, int logging);
EXPORTED void *NAMED(fmi2Instantiate)(const char *name, int kind, const char *guid, const char *resources,
                                      const fmi2_callbacks *functions, int visible, int logging)
{
    component *instance;
    (void)resources;
    (void)visible;
    (void)logging;
    instance = make(name, (functions == NULL) ? NULL : functions->environment,
                    (functions == NULL) ? NULL : (void (*)(void))functions->logger);
    if ((instance != NULL) && ((kind != 1) || (guid == NULL) || (strcmp(guid, "{{ token }}") != 0))) {
        (void)say(instance, SAY_ERROR, "expected co-simulation and the guid of modelDescription.xml");
        free(instance);
        instance = NULL;
    }
    return instance;
}

EXPORTED void NAMED(fmi2FreeInstance)(void *instance);
EXPORTED void NAMED(fmi2FreeInstance)(void *instance)
{
    free(instance);
}

{{ function("SetDebugLogging", "void *c, int on, size_t count, const char *const *categories") }}
{
    (void)c;
    (void)on;
    (void)count;
    (void)categories;
    return 0;
}

{{ function("SetupExperiment", "void *c, int tolerance_defined, double tolerance, double start, int stop_defined, double stop") }}
{
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    ((component *)c)->now.time = start;
    return 0;
}

{{ function("EnterInitializationMode", "void *c") }}
{
    return status_of(enter_initialization(c));
}

{{ function("ExitInitializationMode", "void *c") }}
{
    return status_of(exit_initialization(c));
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

{{ function("GetReal", "void *c, const fmi2_reference *references, size_t count, double *values") }}
{
    verdict worst = SAY_OK;
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = get_number(c, references[i], &values[i]);
    }
    return status_of(worst);
}

{{ function("SetReal", "void *c, const fmi2_reference *references, size_t count, const double *values") }}
{
    verdict worst = SAY_OK;
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = set_number(c, references[i], values[i]);
    }
    return status_of(worst);
}

{{ function("GetInteger", "void *c, const fmi2_reference *references, size_t count, int *values") }}
{
    verdict worst = SAY_OK;
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        int32_t value = 0;
        worst = get_start(c, references[i], &value);
        values[i] = (int)value;
    }
    return status_of(worst);
}

{{ function("SetInteger", "void *c, const fmi2_reference *references, size_t count, const int *values") }}
{
    verdict worst = SAY_OK;
    for (size_t i = 0; (i < count) && (worst == SAY_OK); ++i) {
        worst = set_start(c, references[i], (int32_t)values[i]);
    }
    return status_of(worst);
}

/* There are no variables of other types. */
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
    return status_of(say(c, SAY_ERROR, "fmi2{{ name }}: the model has nothing of this kind"));
}

{% endfor %}
{% set state = "FMUstate" %}
{% set byte = "char" %}
{% set deserialize = "DeSerializeFMUstate" %}
{% include "fmi_states.c" %}

{{ function("GetDirectionalDerivative", "void *c, const fmi2_reference *unknowns, size_t n_unknowns, const fmi2_reference *knowns, size_t n_knowns, const double *seed, double *sensitivity") }}
{
    verdict worst = SAY_OK;
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

{{ function("DoStep", "void *c, double time, double size, int no_way_back") }}
{
    (void)no_way_back;
    return status_of(advance(c, time, size));
}

{{ function("GetRealStatus", "void *c, int kind, double *value") }}
{
    if (kind == 2) { /* the last successful time */
        *value = ((component *)c)->now.time;
        return 0;
    }
    return 2;
}
