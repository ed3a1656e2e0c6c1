/* Scaled outputs of all trajectories, and their means. */
static void emit_all(const prssm_state *state, const prssm_real *scaled_u,
                     prssm_real y[TRAJECTORIES][DY], prssm_real mean[DY])
{
    for (int d = 0; d < DY; ++d) {
        mean[d] = REAL(0);
    }
    for (int j = 0; j < TRAJECTORIES; ++j) {
        prssm_real xu[DIN];
        join(state->x[j], scaled_u, xu);
        emit(j / SHARE, xu, y[j]);
        for (int d = 0; d < DY; ++d) {
            mean[d] += y[j][d];
        }
    }
    for (int d = 0; d < DY; ++d) {
        mean[d] /= REAL(TRAJECTORIES);
    }
}

{% if band %}
/* Deviation of an output, scaled and before the band is calibrated. */
static prssm_real deviation(prssm_real y[TRAJECTORIES][DY], prssm_real mean, int d)
{
    prssm_real square = REAL(0);
    for (int j = 0; j < TRAJECTORIES; ++j) {
        square += (y[j][d] - mean) * (y[j][d] - mean);
    }
    return {{ sqrt }}(square / REAL(TRAJECTORIES - 1) + NOISE_VAR[d]);
}

{% endif %}
{% if widens %}
{% include "outside.c" %}

{% endif %}
/* Mean and deviation now; how far outside of the training data that is is returned. */
static prssm_real show(const prssm_state *state, const prssm_real *scaled_u, prssm_real *mean,
                       prssm_real *std)
{
    prssm_real y[TRAJECTORIES][DY];
    prssm_real centre[DY];
    prssm_real far = REAL(0);
{% if widens %}
    prssm_real slope[DU + 1];
{% endif %}
    emit_all(state, scaled_u, y, centre);
{% if widens %}
    far = outside(state, scaled_u, centre, slope);
{% endif %}
    for (int d = 0; d < DY; ++d) {
        mean[d] = Y_MEAN[d] + Y_STD[d] * centre[d];
{% if band %}
        if (std != NULL) {
            std[d] = BAND[d] * deviation(y, centre[d], d){{ " * WIDENED(far)" if widens }};
        }
{% endif %}
    }
{% if not band %}
    (void)std;
{% endif %}
    return far;
}

void prssm_output(const prssm_state *state, const prssm_real *u, prssm_real *mean, prssm_real *std)
{
    prssm_real scaled[DU + 1];
    scale_input(u, scaled);
    (void)show(state, scaled, mean, std);
}

{% if band and uses_noise %}
/* The noise of one trajectory at one step. */
static void draw(uint32_t step, int trajectory, prssm_real eps[DX])
{
    for (int d = 0; d < DX; ++d) {
        uint32_t value = step * UINT32_C({{ noises }}) + (uint32_t)(trajectory * DX + d);
{% for shift, factor in hash %}
        value = (value ^ (value >> {{ shift }})) * UINT32_C({{ factor }});
{% endfor %}
        eps[d] = QUANTILE[(value ^ (value >> 16)) >> {{ 32 - table_bits }}];
    }
}

{% endif %}
/* One trajectory, one step on; without noise where `eps` is null. */
static void move(int trajectory, const prssm_real *scaled_u, const prssm_real *eps, prssm_real x[DX])
{
    const int member = trajectory / SHARE;
    prssm_real xu[DIN];
{% if points %}
    prssm_real e[KERNELS * POINTS];
{% endif %}
    join(x, scaled_u, xu);
{% if points %}
    correlations(member, xu, e);
    next_mean(member, xu, e, {{ "WEIGHT[trajectory]" if own_functions else "ALPHA[member]" }}, x);
{% else %}
    next_mean(member, xu, x);
{% endif %}
{% if band and uses_noise %}
    for (int kernel = 0; kernel < KERNELS; ++kernel) {
        prssm_real a[POINTS];
        const prssm_real base = unsaid(member, kernel, e + kernel * POINTS, a);
        for (int d = kernel; d < DX; d += KERNELS) {
            prssm_real variance = base + PROCESS_VAR[member][d];
{% if not own_functions %}
            variance += unknown(member, d, a);
{% endif %}
            x[d] += {{ sqrt }}(variance) * eps[d];
        }
    }
{% else %}
    (void)eps;
{% endif %}
}

void prssm_step(prssm_state *state, const prssm_real *u, prssm_real *mean, prssm_real *std)
{
    prssm_real scaled[DU + 1];
    scale_input(u, scaled);
{% if widens %}
    state->far = show(state, scaled, mean, std);
{% else %}
    (void)show(state, scaled, mean, std);
{% endif %}
    for (int j = 0; j < TRAJECTORIES; ++j) {
{% if band and uses_noise %}
        prssm_real eps[DX];
        draw(state->step, j, eps);
        move(j, scaled, eps, state->x[j]);
{% else %}
        move(j, scaled, NULL, state->x[j]);
{% endif %}
    }
    state->step += 1U;
}

{% if band %}
void prssm_step_drawn(prssm_state *state, const prssm_real *u, const prssm_real *eps,
                      prssm_real *mean, prssm_real *std)
{
    prssm_real scaled[DU + 1];
    scale_input(u, scaled);
{% if widens %}
    state->far = show(state, scaled, mean, std);
{% else %}
    (void)show(state, scaled, mean, std);
{% endif %}
    for (int j = 0; j < TRAJECTORIES; ++j) {
        move(j, scaled, eps + j * DX, state->x[j]);
    }
    state->step += 1U;
}

{% endif %}
void prssm_output_slope(const prssm_state *state, const prssm_real *u, prssm_real *d_mean,
                        prssm_real *d_std)
{
{% if inputs %}
    prssm_real scaled[DU + 1];
    prssm_real y[TRAJECTORIES][DY];
    prssm_real centre[DY];
{% if widens %}
    prssm_real along[DU + 1];
    prssm_real far;
{% endif %}
    scale_input(u, scaled);
    emit_all(state, scaled, y, centre);
{% if widens %}
    far = outside(state, scaled, centre, along);
{% endif %}
    for (int d = 0; d < DY; ++d) {
        for (int i = 0; i < DU; ++i) {
            prssm_real slope = REAL(0);
            for (int member = 0; member < MEMBERS; ++member) {
                slope += C[member][d][DX + i] / REAL(MEMBERS);
            }
            d_mean[d * DU + i] = Y_STD[d] * slope / U_STD[i];
{% if band %}
            if (d_std != NULL) {
                prssm_real product = REAL(0);
                for (int j = 0; j < TRAJECTORIES; ++j) {
                    product += (y[j][d] - centre[d]) * (C[j / SHARE][d][DX + i] - slope);
                }
                product /= REAL(TRAJECTORIES - 1) * deviation(y, centre[d], d);
{% if widens %}
                product *= WIDENED(far);
                product += deviation(y, centre[d], d) * REAL({{ wider }}) * along[i];
{% endif %}
                d_std[d * DU + i] = BAND[d] * product / U_STD[i];
            }
{% endif %}
        }
    }
{% if not band %}
    (void)d_std;
{% endif %}
{% else %}
    (void)state;
    (void)u;
    (void)d_mean;
    (void)d_std;
{% endif %}
}
