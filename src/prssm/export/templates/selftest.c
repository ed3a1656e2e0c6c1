/* {{ title }}: does it still compute what it did when it was exported?
 *
 * cc -std=c99 -O3 prssm_model.c prssm_selftest.c -lm -o selftest && ./selftest
 *
 * Replays a recorded run and prints the largest disagreement, in units of the outputs' deviations,
 * and how long a step takes. It ends with 0 where the disagreement is below {{ limit }}. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "prssm_model.h"

#define ROWS {{ rows }}

static const prssm_real U[{{ u.size or 1 }}] =
    {{ u.ravel() | numbers if u.size else "{0}" }};
static const prssm_real FIRST_Y[{{ first_y.size or 1 }}] =
    {{ first_y.ravel() | numbers if first_y.size else "{0}" }};
static const prssm_real MEAN[ROWS * PRSSM_OUTPUTS] =
    {{ mean.ravel() | numbers }};
{% if band %}
static const prssm_real STD[ROWS * PRSSM_OUTPUTS] =
    {{ std.ravel() | numbers }};
{% endif %}
static const double UNIT[PRSSM_OUTPUTS] = {{ unit | numbers }};

static double replay(void)
{
    static prssm_state state;
    double worst = 0.0;
    if (prssm_init(&state, U, FIRST_Y) != PRSSM_OK) {
        return HUGE_VAL;
    }
    for (int row = 0; row < ROWS; ++row) {
        prssm_real mean[PRSSM_OUTPUTS];
        prssm_real std[PRSSM_OUTPUTS];
        prssm_step(&state, U + row * PRSSM_INPUTS, mean, std);
        for (int d = 0; d < PRSSM_OUTPUTS; ++d) {
            double apart = fabs((double)mean[d] - (double)MEAN[row * PRSSM_OUTPUTS + d]);
{% if band %}
            apart = fmax(apart, fabs((double)std[d] - (double)STD[row * PRSSM_OUTPUTS + d]));
{% endif %}
            if (!(apart / UNIT[d] <= worst)) {
                worst = apart / UNIT[d];
            }
        }
    }
    return worst;
}

/* Microseconds of a step: the fastest of some rounds. */
static double microseconds(long steps)
{
    static prssm_state state;
    double best = HUGE_VAL;
    for (int round = 0; round < 5; ++round) {
        prssm_real mean[PRSSM_OUTPUTS];
        prssm_real std[PRSSM_OUTPUTS];
        const clock_t begin = clock();
        (void)prssm_init(&state, U, FIRST_Y);
        for (long step = 0; step < steps; ++step) {
            prssm_step(&state, U + (step % ROWS) * PRSSM_INPUTS, mean, std);
        }
        best = fmin(best, 1e6 * (double)(clock() - begin) / (double)CLOCKS_PER_SEC / (double)steps);
    }
    return best;
}

int main(void)
{
    const double worst = replay();
    long steps = 10;
    while ((microseconds(steps) * (double)steps < 5000.0) && (steps < 1000000)) {
        steps *= 4;
    }
    printf("disagreement %.3g\n", worst);
    printf("microseconds %.4g\n", microseconds(steps));
    printf("state %lu\n", (unsigned long)sizeof(prssm_state));
    printf("filter %lu\n", (unsigned long)sizeof(prssm_filter));
    return (worst <= {{ limit }}) ? EXIT_SUCCESS : EXIT_FAILURE;
}
