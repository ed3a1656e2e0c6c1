/* Whether all of an input are numbers. */
static int usable(const prssm_real *u, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!is_finite(u[i])) {
            return 0;
        }
    }
    return 1;
}

/* The first states of a member's trajectories: mean + factor * (draws that never change). */
static void spread_out(prssm_state *state, int member, const prssm_real *mean,
                       const prssm_real *factor)
{
    for (int j = member * SHARE; j < (member + 1) * SHARE; ++j) {
        for (int d = 0; d < DX; ++d) {
{% if band %}
            state->x[j][d] = mean[d] + dot(factor + d * DX, FIRST[j], DX);
{% else %}
            state->x[j][d] = mean[d];
{% endif %}
        }
    }
{% if not band %}
    (void)factor;
{% endif %}
}

void prssm_init_prior(prssm_state *state)
{
    for (int member = 0; member < MEMBERS; ++member) {
        spread_out(state, member, PRIOR_MEAN[member], PRIOR_FACTOR[member][0]);
    }
    state->step = 0U;
{% if widens %}
    state->far = REAL(0);
{% endif %}
}

{% if window %}
#define SAMPLE (WINDOW * (DY + DU))

/* Bridge the gaps of one column of scaled outputs by straight lines; ends are held. */
static void bridge(prssm_real *column, const int *known)
{
    for (int row = 0; row < WINDOW; ++row) {
        int before = row;
        int after = row;
        while ((before > 0) && (known[before] == 0)) {
            --before;
        }
        while ((after < WINDOW - 1) && (known[after] == 0)) {
            ++after;
        }
        if (known[row] != 0) {
            continue;
        }
        if ((known[before] != 0) && (known[after] != 0)) {
            const prssm_real share = REAL(row - before) / REAL(after - before);
            column[row * DY] = column[before * DY] + share * (column[after * DY] - column[before * DY]);
        } else if (known[before] != 0) {
            column[row * DY] = column[before * DY];
        } else if (known[after] != 0) {
            column[row * DY] = column[after * DY];
        } else {
            column[row * DY] = REAL(0);
        }
    }
}

/* The first samples as the recognition model reads them: outputs, then inputs, row by row, scaled.
 * The number of measured values is returned. */
static int scale_samples(const prssm_real *u, const prssm_real *y, prssm_real *sample)
{
    int measured = 0;
    for (int d = 0; d < DY; ++d) {
        int known[WINDOW];
        for (int row = 0; row < WINDOW; ++row) {
            known[row] = is_finite(y[row * DY + d]);
            measured += known[row];
            sample[row * DY + d] = (known[row] != 0) ? (y[row * DY + d] - Y_MEAN[d]) / Y_STD[d] : REAL(0);
        }
        bridge(sample + d, known);
    }
{% if inputs %}
    for (int row = 0; row < WINDOW; ++row) {
        for (int i = 0; i < DU; ++i) {
            sample[WINDOW * DY + row * DU + i] = (u[row * DU + i] - U_MEAN[i]) / U_STD[i];
        }
    }
{% else %}
    (void)u;
{% endif %}
    return measured;
}

/* Mean and covariance factor of the first state of a member. */
static void recognise(int member, const prssm_real *sample, prssm_real mean[DX],
                      prssm_real factor[DX * DX])
{
{% if hidden %}
    prssm_real hidden[{{ hidden }}];
    for (int h = 0; h < {{ hidden }}; ++h) {
        hidden[h] = {{ tanh }}(dot(HIDDEN_WEIGHT[member][h], sample, SAMPLE) + HIDDEN_BIAS[member][h]);
    }
{% endif %}
    for (int d = 0; d < DX; ++d) {
        mean[d] = dot(DIRECT[member][d], sample, SAMPLE) + DIRECT_BIAS[member][d];
{% if hidden %}
        mean[d] += dot(FIRST_WEIGHT[member][d], hidden, {{ hidden }});
{% endif %}
        for (int i = 0; i < DX; ++i) {
{% if hidden %}
            factor[d * DX + i] = REAL(0);
{% else %}
            factor[d * DX + i] = START_FACTOR[member][d][i];
{% endif %}
        }
{% if hidden %}
        factor[d * DX + d] = {{ exp }}(dot(LOG_STD_WEIGHT[member][d], hidden, {{ hidden }}) + LOG_STD_BIAS[member][d]);
{% endif %}
    }
}

int prssm_init(prssm_state *state, const prssm_real *u, const prssm_real *y)
{
    prssm_real sample[SAMPLE];
    if (usable(u, WINDOW * DU) == 0) {
        return PRSSM_NOT_FINITE;
    }
    prssm_init_prior(state);
    if (scale_samples(u, y, sample) > 0) {
        for (int member = 0; member < MEMBERS; ++member) {
            prssm_real mean[DX];
            prssm_real factor[DX * DX];
            recognise(member, sample, mean, factor);
            spread_out(state, member, mean, factor);
        }
    }
    return PRSSM_OK;
}
{% else %}
int prssm_init(prssm_state *state, const prssm_real *u, const prssm_real *y)
{
    (void)u;
    (void)y;
    prssm_init_prior(state);
    return PRSSM_OK;
}
{% endif %}

/* The mean of the next state, and its derivatives by the state. */
static void linearise(int member, const prssm_real *xu, prssm_real next[DX], prssm_real slope[DX][DX])
{
{% if points %}
    prssm_real e[KERNELS * POINTS];
    correlations(member, xu, e);
    next_mean(member, xu, e, ALPHA[member], next);
{% else %}
    next_mean(member, xu, next);
{% endif %}
{% if neurons %}
    prssm_real bent[NEURONS]; /* the slope of each tanh */
    excite(member, xu, bent);
    for (int n = 0; n < NEURONS; ++n) {
        bent[n] = REAL(1) - bent[n] * bent[n];
    }
{% endif %}
    for (int d = 0; d < DX; ++d) {
        for (int i = 0; i < DX; ++i) {
            slope[d][i] = A[member][d][i];
{% if neurons %}
            for (int n = 0; n < NEURONS; ++n) {
                slope[d][i] += NEURON_OUT[member][d][n] * bent[n] * NEURON_WEIGHT[member][n][i];
            }
{% endif %}
        }
    }
{% if points %}
    for (int kernel = 0; kernel < KERNELS; ++kernel) {
        prssm_real squared[POINTS];
        distances(member, kernel, xu, squared);
        for (int i = 0; i < DX; ++i) {
            prssm_real along[POINTS];
            const prssm_real inverse = INVERSE_LENGTH[member][kernel][i];
            for (int p = 0; p < POINTS; ++p) {
                along[p] = slope_of(squared[p]) * (ZETA[member][kernel][i][p] - xu[i] * inverse) * inverse;
            }
            for (int d = kernel; d < DX; d += KERNELS) {
                slope[d][i] += lanes_dot(ALPHA[member][d], along);
            }
        }
    }
{% endif %}
}

/* Solve matrix * step = step by elimination with pivots; 0 where the matrix is singular. */
static int solve(prssm_real matrix[DX][DX], prssm_real step[DX])
{
    for (int column = 0; column < DX; ++column) {
        int best = column;
        for (int row = column + 1; row < DX; ++row) {
            if ({{ fabs }}(matrix[row][column]) > {{ fabs }}(matrix[best][column])) {
                best = row;
            }
        }
        if (!({{ fabs }}(matrix[best][column]) > REAL(0))) {
            return 0;
        }
        for (int i = 0; i < DX; ++i) {
            const prssm_real kept = matrix[column][i];
            matrix[column][i] = matrix[best][i];
            matrix[best][i] = kept;
        }
        {
            const prssm_real kept = step[column];
            step[column] = step[best];
            step[best] = kept;
        }
        for (int row = column + 1; row < DX; ++row) {
            const prssm_real share = matrix[row][column] / matrix[column][column];
            for (int i = column; i < DX; ++i) {
                matrix[row][i] -= share * matrix[column][i];
            }
            step[row] -= share * step[column];
        }
    }
    for (int row = DX - 1; row >= 0; --row) {
        for (int i = row + 1; i < DX; ++i) {
            step[row] -= matrix[row][i] * step[i];
        }
        step[row] /= matrix[row][row];
    }
    return 1;
}

/* Newton's method for x = f(x, u) from a state that has settled for some steps. */
static int settle(int member, const prssm_real *scaled_u, prssm_real x[DX])
{
    int found = 0;
    for (int i = 0; i < DX; ++i) {
        x[i] = PRIOR_MEAN[member][i];
    }
    for (int round = 0; (round < 250) && (found == 0); ++round) {
        prssm_real xu[DIN];
        prssm_real step[DX];
        prssm_real matrix[DX][DX];
        prssm_real size = REAL(0);
        prssm_real moved = REAL(0);
        join(x, scaled_u, xu);
        linearise(member, xu, step, matrix);
        for (int d = 0; d < DX; ++d) {
            step[d] -= x[d];
            for (int i = 0; i < DX; ++i) {
                matrix[d][i] = ((d == i) ? REAL(1) : REAL(0)) - matrix[d][i];
            }
        }
        if ((round >= 200) && (solve(matrix, step) == 0)) {
            return 0;
        }
        for (int d = 0; d < DX; ++d) {
            x[d] += step[d];
            size = larger(size, {{ fabs }}(x[d]));
            moved = larger(moved, {{ fabs }}(step[d]));
        }
        if (!(size < REAL(1e6))) {
            return 0;
        }
        found = (round >= 200) && (moved <= REAL({{ tolerance }}) * (REAL(1) + size));
    }
    return found;
}

int prssm_init_steady(prssm_state *state, const prssm_real *u)
{
    prssm_real scaled[DU + 1];
    if (usable(u, DU) == 0) {
        return PRSSM_NOT_FINITE;
    }
    scale_input(u, scaled);
    prssm_init_prior(state);
    for (int member = 0; member < MEMBERS; ++member) {
        prssm_real x[DX];
        const prssm_real still[DX * DX] = {REAL(0)};
        if (settle(member, scaled, x) == 0) {
            prssm_init_prior(state);
            return PRSSM_NO_EQUILIBRIUM;
        }
        spread_out(state, member, x, still);
    }
    return PRSSM_OK;
}
