/* {{ title }}: see prssm_model.h. */
#include "prssm_model.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

{% macro table(name, array) %}
static const prssm_real {{ name }}{% for size in array.shape %}[{{ size }}]{% endfor %} =
    {{ array | numbers }};
{% endmacro %}
#define DX PRSSM_STATES
#define DU PRSSM_INPUTS
#define DY PRSSM_OUTPUTS
#define DIN (DX + DU)
#define NF PRSSM_FILTER_STATES
#define MEMBERS PRSSM_MEMBERS
#define FOLLOWED PRSSM_FOLLOWED
#define NO_WEIGHT REAL(-1e30) /* the logarithm of a weight that is none */
#define TRAJECTORIES PRSSM_TRAJECTORIES
#define SHARE (TRAJECTORIES / MEMBERS)
#define WINDOW PRSSM_WINDOW
#define REAL(x) ((prssm_real)(x))
{% if widens %}
#define WIDENED(far) (REAL(1) + REAL({{ wider }}) * (far))
{% endif %}

{% for name, array in tables.items() %}
{{ table(name, array) }}
{%- endfor %}

{% if band and uses_noise %}
/* Normal quantiles: the noise of a step is one of them, chosen by a hash. */
{{ table("QUANTILE", quantiles) }}
{% endif %}

static prssm_real larger(prssm_real a, prssm_real b)
{
    return (a > b) ? a : b;
}

/* NaN and infinities: neither is less than the largest number. */
static int is_finite(prssm_real value)
{
    return {{ fabs }}(value) <= {{ largest }};
}

static prssm_real dot(const prssm_real *a, const prssm_real *b, int count)
{
    prssm_real sum = REAL(0);
    for (int i = 0; i < count; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* The scaled input behind a state. */
static void join(const prssm_real *x, const prssm_real *scaled_u, prssm_real xu[DIN])
{
    for (int i = 0; i < DX; ++i) {
        xu[i] = x[i];
    }
    for (int i = 0; i < DU; ++i) {
        xu[DX + i] = scaled_u[i];
    }
}

static void scale_input(const prssm_real *u, prssm_real scaled[DU + 1])
{
{% if inputs %}
    for (int i = 0; i < DU; ++i) {
        scaled[i] = (u[i] - U_MEAN[i]) / U_STD[i];
    }
{% else %}
    (void)u;
{% endif %}
    scaled[DU] = REAL(0);
}

{% if points %}
{% include "kernel.c" %}

{% endif %}
{% if neurons %}
#define NEURONS {{ neurons }}

/* The neurons of the prior mean, at xu. */
static void excite(int member, const prssm_real *xu, prssm_real neuron[NEURONS])
{
    for (int n = 0; n < NEURONS; ++n) {
        neuron[n] = {{ tanh }}(dot(NEURON_WEIGHT[member][n], xu, DIN) + NEURON_BIAS[member][n]);
    }
}

{% endif %}
/* Mean of the next state of one trajectory, from xu. */
static void next_mean(int member, const prssm_real *xu, {{ "const prssm_real *e, const prssm_real (*weight)[POINTS]," if points }} prssm_real next[DX])
{
{% if neurons %}
    prssm_real neuron[NEURONS];
    excite(member, xu, neuron);
{% endif %}
    for (int d = 0; d < DX; ++d) {
        next[d] = dot(A[member][d], xu, DIN) + B[member][d];
{% if neurons %}
        next[d] += dot(NEURON_OUT[member][d], neuron, NEURONS);
{% endif %}
{% if points %}
        next[d] += lanes_dot(weight[d], e + (d % KERNELS) * POINTS);
{% endif %}
    }
}

/* Noise-free outputs of one state, scaled. */
static void emit(int member, const prssm_real *xu, prssm_real y[DY])
{
    for (int d = 0; d < DY; ++d) {
        y[d] = dot(C[member][d], xu, DIN) + OFFSET[member][d];
    }
}

{% include "starting.c" %}

{% include "running.c" %}

{% include "filter.c" %}
