"""Functions of the standards for which this model has nothing: they say so and give an error.

Importers look all names up when they load an FMU, so every one must be there.
"""

_R2 = "void *c, const fmi2_reference *references, size_t count"
_R3 = "void *c, const fmi3_reference *references, size_t count"
_NUMBERS = {
    "Float32": "float",
    "Int8": "int8_t",
    "UInt8": "uint8_t",
    "Int16": "int16_t",
    "UInt16": "uint16_t",
    "UInt32": "uint32_t",
    "Int64": "int64_t",
    "UInt64": "uint64_t",
    "Boolean": "bool",
}

FMI2 = [
    ("GetBoolean", f"{_R2}, int *values"),
    ("SetBoolean", f"{_R2}, const int *values"),
    ("GetString", f"{_R2}, const char **values"),
    ("SetString", f"{_R2}, const char *const *values"),
    ("SetRealInputDerivatives", f"{_R2}, const int *orders, const double *values"),
    ("GetRealOutputDerivatives", f"{_R2}, const int *orders, double *values"),
    ("CancelStep", "void *c"),
    ("GetStatus", "void *c, int kind, int *value"),
    ("GetIntegerStatus", "void *c, int kind, int *value"),
    ("GetBooleanStatus", "void *c, int kind, int *value"),
    ("GetStringStatus", "void *c, int kind, const char **value"),
]

FMI3 = [
    *((f"Get{name}", f"{_R3}, {kind} *values, size_t n_values") for name, kind in _NUMBERS.items()),
    *(
        (f"Set{name}", f"{_R3}, const {kind} *values, size_t n_values")
        for name, kind in _NUMBERS.items()
    ),
    ("GetString", f"{_R3}, const char **values, size_t n_values"),
    ("SetString", f"{_R3}, const char *const *values, size_t n_values"),
    ("GetBinary", f"{_R3}, size_t *sizes, const uint8_t **values, size_t n_values"),
    ("SetBinary", f"{_R3}, const size_t *sizes, const uint8_t *const *values, size_t n_values"),
    ("GetClock", f"{_R3}, bool *values"),
    ("SetClock", f"{_R3}, const bool *values"),
    ("GetIntervalDecimal", f"{_R3}, double *intervals, int *qualifiers"),
    ("GetIntervalFraction", f"{_R3}, uint64_t *counters, uint64_t *resolutions, int *qualifiers"),
    ("GetShiftDecimal", f"{_R3}, double *shifts"),
    ("GetShiftFraction", f"{_R3}, uint64_t *counters, uint64_t *resolutions"),
    ("SetIntervalDecimal", f"{_R3}, const double *intervals"),
    ("SetIntervalFraction", f"{_R3}, const uint64_t *counters, const uint64_t *resolutions"),
    ("SetShiftDecimal", f"{_R3}, const double *shifts"),
    ("SetShiftFraction", f"{_R3}, const uint64_t *counters, const uint64_t *resolutions"),
    ("GetOutputDerivatives", f"{_R3}, const int32_t *orders, double *values, size_t n_values"),
    ("EnterEventMode", "void *c"),
    ("EvaluateDiscreteStates", "void *c"),
    (
        "UpdateDiscreteStates",
        "void *c, bool *again, bool *end, bool *nominals, bool *changed, bool *timed, double *next",
    ),
    ("EnterContinuousTimeMode", "void *c"),
    ("CompletedIntegratorStep", "void *c, bool no_way_back, bool *event, bool *terminate"),
    ("SetTime", "void *c, double time"),
    ("SetContinuousStates", "void *c, const double *x, size_t size"),
    ("GetContinuousStateDerivatives", "void *c, double *x, size_t size"),
    ("GetEventIndicators", "void *c, double *x, size_t size"),
    ("GetContinuousStates", "void *c, double *x, size_t size"),
    ("GetNominalsOfContinuousStates", "void *c, double *x, size_t size"),
    ("GetNumberOfEventIndicators", "void *c, size_t *size"),
    ("GetNumberOfContinuousStates", "void *c, size_t *size"),
    ("ActivateModelPartition", "void *c, fmi3_reference clock, double time"),
]
