/* A member's Gaussian from the mean and the covariance factor of its state. */
static void believe(prssm_filter *filter, int member, const prssm_real *mean, const prssm_real *factor)
{
    for (int d = 0; d < NF; ++d) {
        filter->mean[member][d] = (d < DX) ? mean[d] : REAL(0);
        for (int i = 0; i < NF; ++i) {
            filter->covariance[member][d][i] = REAL(0);
            if ((d < DX) && (i < DX)) {
                filter->covariance[member][d][i] = dot(factor + d * DX, factor + i * DX, DX);
            }
{% if coloured %}
            if ((d >= DX) && (i >= DX)) {
                filter->covariance[member][d][i] = COLOUR_FIRST[member][d - DX][i - DX];
            }
{% endif %}
        }
    }
    filter->log_weight[member] = (HEARD[member] > REAL(0)) ? {{ log }}(HEARD[member]) : NO_WEIGHT;
}

void prssm_filter_init(prssm_filter *filter)
{
    for (int member = 0; member < FOLLOWED; ++member) {
        believe(filter, member, PRIOR_MEAN[member], PRIOR_FACTOR[member][0]);
    }
}

int prssm_filter_recognise(prssm_filter *filter, const prssm_real *u, const prssm_real *y)
{
{% if window %}
    prssm_real sample[SAMPLE];
    if (usable(u, WINDOW * DU) == 0) {
        return PRSSM_NOT_FINITE;
    }
    prssm_filter_init(filter);
    if (scale_samples(u, y, sample) > 0) {
        for (int member = 0; member < FOLLOWED; ++member) {
            prssm_real mean[DX];
            prssm_real factor[DX * DX];
            recognise(member, sample, mean, factor);
            believe(filter, member, mean, factor);
        }
    }
{% else %}
    (void)u;
    (void)y;
    prssm_filter_init(filter);
{% endif %}
    return PRSSM_OK;
}

/* The variance of output d is returned, and its covariance with the state is `cross`. */
static prssm_real seen_with(const prssm_filter *filter, int member, int d, prssm_real cross[NF])
{
    prssm_real variance = SENSOR_VAR[member][d];
    for (int i = 0; i < NF; ++i) {
        cross[i] = dot(C[member][d], filter->covariance[member][i], DX);
{% if coloured %}
        cross[i] += filter->covariance[member][i][DX + d];
{% endif %}
    }
    variance += dot(C[member][d], cross, DX);
{% if coloured %}
    variance += cross[DX + d];
{% endif %}
    return larger(variance, SENSOR_VAR[member][d]); /* rounding could have made it less */
}

/* Output d as a member expects it, scaled. */
static prssm_real expected(const prssm_filter *filter, int member, int d, const prssm_real *scaled_u)
{
    prssm_real xu[DIN];
    prssm_real y[DY];
    join(filter->mean[member], scaled_u, xu);
    emit(member, xu, y);
{% if coloured %}
    y[d] += filter->mean[member][DX + d];
{% endif %}
    return y[d];
}

/* One output after the other: their noises are independent. The log-density is returned. */
static prssm_real learn(prssm_filter *filter, int member, const prssm_real *scaled_u, const prssm_real *y)
{
    prssm_real density = REAL(0);
    for (int d = 0; d < DY; ++d) {
        prssm_real cross[NF];
        if (is_finite(y[d])) {
            const prssm_real variance = seen_with(filter, member, d, cross);
            const prssm_real error = (y[d] - Y_MEAN[d]) / Y_STD[d] - expected(filter, member, d, scaled_u);
            for (int i = 0; i < NF; ++i) {
                filter->mean[member][i] += cross[i] / variance * error;
                for (int j = 0; j < NF; ++j) {
                    filter->covariance[member][i][j] -= cross[i] * cross[j] / variance;
                }
            }
            density -= REAL(0.5) * (error * error / variance + {{ log }}(variance) + REAL(1.8378770664093453));
        }
    }
    return density;
}

/* So that the weights add up to one. */
static void normalise(prssm_filter *filter)
{
    prssm_real highest = filter->log_weight[0];
    prssm_real sum = REAL(0);
    for (int member = 1; member < FOLLOWED; ++member) {
        highest = larger(highest, filter->log_weight[member]);
    }
    for (int member = 0; member < FOLLOWED; ++member) {
        sum += {{ exp }}(filter->log_weight[member] - highest);
    }
    for (int member = 0; member < FOLLOWED; ++member) {
        filter->log_weight[member] -= highest + {{ log }}(sum);
    }
}

int prssm_update(prssm_filter *filter, const prssm_real *u, const prssm_real *y)
{
    prssm_real scaled[DU + 1];
    int measured = 0;
    if (usable(u, DU) == 0) {
        return PRSSM_NOT_FINITE;
    }
    for (int d = 0; d < DY; ++d) {
        measured += is_finite(y[d]);
    }
    if (measured > 0) {
        scale_input(u, scaled);
        for (int member = 0; member < FOLLOWED; ++member) {
            const prssm_real density = learn(filter, member, scaled, y);
            /* None of the members is the truth, so what they got right is forgotten in time. */
            filter->log_weight[member] *= REAL({{ memory }});
            filter->log_weight[member] += is_finite(density) ? density : NO_WEIGHT;
            if (!(HEARD[member] > REAL(0))) {
                filter->log_weight[member] = NO_WEIGHT;
            }
        }
        normalise(filter);
    }
    return PRSSM_OK;
}

/* Variance that a step adds to each state: what is not known of the function. */
static void step_variance(int member, const prssm_real *xu, prssm_real variance[DX])
{
{% if points %}
    prssm_real e[KERNELS * POINTS];
    prssm_real a[POINTS];
    correlations(member, xu, e);
    for (int kernel = 0; kernel < KERNELS; ++kernel) {
        const prssm_real base = unsaid(member, kernel, e + kernel * POINTS, a);
        for (int d = kernel; d < DX; d += KERNELS) {
            variance[d] = base + unknown(member, d, a);
        }
    }
{% else %}
    (void)member;
    (void)xu;
    for (int d = 0; d < DX; ++d) {
        variance[d] = REAL(0);
    }
{% endif %}
}

/* The derivatives of a step by the filter's state. */
static void whole_slope(int member, prssm_real latent[DX][DX], prssm_real whole[NF][NF])
{
    for (int i = 0; i < NF; ++i) {
        for (int j = 0; j < NF; ++j) {
            whole[i][j] = ((i < DX) && (j < DX)) ? latent[i % DX][j % DX] : REAL(0);
{% if coloured %}
            if ((i >= DX) && (j >= DX)) {
                whole[i][j] = COLOUR_STEP[member][i - DX][j - DX];
            }
{% endif %}
        }
    }
{% if not coloured %}
    (void)member;
{% endif %}
}

/* The covariance F P F' + Q. */
static void widen(prssm_filter *filter, int member, prssm_real slope[NF][NF], const prssm_real *variance)
{
    prssm_real half[NF][NF]; /* F P, P is symmetric */
    for (int i = 0; i < NF; ++i) {
        for (int j = 0; j < NF; ++j) {
            half[i][j] = dot(slope[i], filter->covariance[member][j], NF);
        }
    }
    for (int i = 0; i < NF; ++i) {
        for (int j = 0; j < NF; ++j) {
            filter->covariance[member][i][j] = dot(half[i], slope[j], NF);
            if ((i < DX) && (j < DX)) {
                filter->covariance[member][i][j] += FILTER_PROCESS[member][i][j];
            }
{% if coloured %}
            if ((i >= DX) && (j >= DX)) {
                filter->covariance[member][i][j] += COLOUR_NOISE[member][i - DX][j - DX];
            }
{% endif %}
        }
        if (i < DX) {
            filter->covariance[member][i][i] += variance[i];
        }
    }
}

int prssm_predict(prssm_filter *filter, const prssm_real *u)
{
    prssm_real scaled[DU + 1];
    if (usable(u, DU) == 0) {
        return PRSSM_NOT_FINITE;
    }
    scale_input(u, scaled);
    for (int member = 0; member < FOLLOWED; ++member) {
        prssm_real xu[DIN];
        prssm_real next[NF];
        prssm_real latent[DX][DX];
        prssm_real slope[NF][NF];
        prssm_real variance[DX];
        join(filter->mean[member], scaled, xu);
        linearise(member, xu, next, latent);
        step_variance(member, xu, variance);
        whole_slope(member, latent, slope);
        for (int i = DX; i < NF; ++i) {
            next[i] = dot(slope[i], filter->mean[member], NF);
        }
        for (int i = 0; i < NF; ++i) {
            filter->mean[member][i] = next[i];
        }
        widen(filter, member, slope, variance);
    }
    return PRSSM_OK;
}

void prssm_filter_output(const prssm_filter *filter, const prssm_real *u, prssm_real *mean,
                         prssm_real *std)
{
    prssm_real scaled[DU + 1];
    scale_input(u, scaled);
    for (int d = 0; d < DY; ++d) {
        prssm_real cross[NF];
        prssm_real centre = REAL(0);
        prssm_real square = REAL(0);
        for (int member = 0; member < FOLLOWED; ++member) {
            centre += {{ exp }}(filter->log_weight[member]) * expected(filter, member, d, scaled);
        }
        for (int member = 0; member < FOLLOWED; ++member) {
            const prssm_real apart = expected(filter, member, d, scaled) - centre;
            square += {{ exp }}(filter->log_weight[member]) * (seen_with(filter, member, d, cross) + apart * apart);
        }
        mean[d] = Y_MEAN[d] + Y_STD[d] * centre;
        if (std != NULL) {
            std[d] = Y_STD[d] * {{ sqrt }}(square);
        }
    }
}

void prssm_init_filtered(prssm_state *state, const prssm_filter *filter)
{
    for (int member = 0; member < MEMBERS; ++member) {
        prssm_real factor[DX * DX] = {REAL(0)}; /* of Cholesky; directions without spread stay 0 */
        for (int i = 0; i < DX; ++i) {
            for (int j = 0; j <= i; ++j) {
                const prssm_real rest = filter->covariance[member][i][j] - dot(factor + i * DX, factor + j * DX, j);
                if (i == j) {
                    factor[i * DX + i] = (rest > REAL(0)) ? {{ sqrt }}(rest) : REAL(0);
                } else if (factor[j * DX + j] > REAL(0)) {
                    factor[i * DX + j] = rest / factor[j * DX + j];
                }
            }
        }
        spread_out(state, member, filter->mean[member], factor);
    }
    state->step = 0U;
{% if widens %}
    state->far = REAL(0);
{% endif %}
}
