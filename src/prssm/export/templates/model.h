/* {{ title }}
 *
 * Written by prssm {{ version }} from a fitted model ({{ method }}); no part of it is meant to be
 * edited. C99, no memory is allocated, no function calls itself, every loop is bounded; the only
 * library is math.h. A state belongs to its caller, so that many runs can go side by side.
 *
 * All inputs and outputs are in physical units. One step takes {{ step_words }}.
{% for column in inputs %}
 *   input {{ loop.index0 }}: {{ column.says }}
{% endfor %}
{% for column in outputs %}
 *   output {{ loop.index0 }}: {{ column.says }}
{% endfor %}
 *
 * {{ outside_words }}
 *
 * A free run:
 *
 *     prssm_state state;
 *     (void)prssm_init(&state, first_u, first_y);   or prssm_init_prior, prssm_init_steady
 *     for each step: prssm_step(&state, u, mean, std);
 *
 * A filter that follows measurements, and a free run from where it has got to:
 *
 *     prssm_filter filter;
 *     prssm_filter_init(&filter);
 *     for each step: prssm_update(&filter, u, y); prssm_filter_output(&filter, u, mean, std);
 *                    prssm_predict(&filter, u);
 *     prssm_init_filtered(&state, &filter);
 *
 * {{ measured }}
 */
#ifndef PRSSM_MODEL_H
#define PRSSM_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef {{ real }} prssm_real;

#define PRSSM_STATES {{ states }}
#define PRSSM_INPUTS {{ inputs | length }}
#define PRSSM_OUTPUTS {{ outputs | length }}
#define PRSSM_MEMBERS {{ members }}
/* Members of a filter: those of free runs{{ ", then others that predict better" if followed > members else "" }}. */
#define PRSSM_FOLLOWED {{ followed }}
/* Sampled trajectories of all members; {{ trajectory_words }}. */
#define PRSSM_TRAJECTORIES {{ trajectories }}
/* First samples that prssm_init reads; 0: it starts from the prior. */
#define PRSSM_WINDOW {{ window }}
/* Seconds of a step{{ "" if dt_known else ", unknown: counted in steps" }}. */
#define PRSSM_STEP_SIZE {{ step_size }}
/* Length of the filter's state: the model's{{ ", then the noise of each sensor" if coloured else "" }}. */
#define PRSSM_FILTER_STATES {{ filter_states }}

{% for column in inputs %}
#define PRSSM_INPUT_{{ column.identifier }} {{ loop.index0 }}
{% endfor %}
{% for column in outputs %}
#define PRSSM_OUTPUT_{{ column.identifier }} {{ loop.index0 }}
{% endfor %}

/* What the functions return. */
#define PRSSM_OK 0
#define PRSSM_NO_EQUILIBRIUM 1 /* none was found: the state is the prior's */
#define PRSSM_NOT_FINITE 2     /* an argument is not a number: nothing has changed */

/* A free run: the state of every trajectory, in the model's own units. */
typedef struct {
    prssm_real x[PRSSM_TRAJECTORIES][PRSSM_STATES];
    uint32_t step; /* steps since the start, which choose the noise */
{% if widens %}
    prssm_real far; /* deviations by which the run is, or was, outside of the training data */
{% endif %}
} prssm_state;

/* A filter: a Gaussian for every member, and how much each is believed. */
typedef struct {
    prssm_real mean[PRSSM_FOLLOWED][PRSSM_FILTER_STATES];
    prssm_real covariance[PRSSM_FOLLOWED][PRSSM_FILTER_STATES][PRSSM_FILTER_STATES];
    prssm_real log_weight[PRSSM_FOLLOWED];
} prssm_filter;

/* Start at the first of PRSSM_WINDOW samples, u[row * PRSSM_INPUTS + column] and
 * y[row * PRSSM_OUTPUTS + column]; y is NaN where nothing was measured. Rows are steps. Step through
 * them to arrive at the present. */
int prssm_init(prssm_state *state, const prssm_real *u, const prssm_real *y);

/* Start where nothing is known. */
void prssm_init_prior(prssm_state *state);

/* Start at rest under the input u[PRSSM_INPUTS]. */
int prssm_init_steady(prssm_state *state, const prssm_real *u);

/* Start from what a filter knows. */
void prssm_init_filtered(prssm_state *state, const prssm_filter *filter);

/* Mean and standard deviation of what the sensors show now, under the input u[PRSSM_INPUTS]; std
 * may be null{{ "" if band else ", and is not written: the model was exported without its band" }}. */
void prssm_output(const prssm_state *state, const prssm_real *u, prssm_real *mean, prssm_real *std);

/* The same, and then one step on. */
void prssm_step(prssm_state *state, const prssm_real *u, prssm_real *mean, prssm_real *std);
{% if band %}

/* The same with noise of the caller's own: standard normal numbers for each trajectory and state,
 * eps[trajectory * PRSSM_STATES + state]. */
void prssm_step_drawn(prssm_state *state, const prssm_real *u, const prssm_real *eps,
                      prssm_real *mean, prssm_real *std);
{% endif %}

/* The derivatives of mean and std by the input, row by row: d_mean[output * PRSSM_INPUTS + input].
 * d_std may be null. */
void prssm_output_slope(const prssm_state *state, const prssm_real *u, prssm_real *d_mean,
                        prssm_real *d_std);

/* A filter that knows nothing yet; or one that knows what prssm_init would start from. */
void prssm_filter_init(prssm_filter *filter);
int prssm_filter_recognise(prssm_filter *filter, const prssm_real *u, const prssm_real *y);

/* The measurement update: what y[PRSSM_OUTPUTS] says of the state, NaN where not measured. */
int prssm_update(prssm_filter *filter, const prssm_real *u, const prssm_real *y);

/* The time update: one step on under the input u. */
int prssm_predict(prssm_filter *filter, const prssm_real *u);

/* Mean and standard deviation of what the sensors show now, as far as the filter knows. */
void prssm_filter_output(const prssm_filter *filter, const prssm_real *u, prssm_real *mean,
                         prssm_real *std);

#ifdef __cplusplus
}
#endif

#endif
