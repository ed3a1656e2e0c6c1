#define KERNELS {{ kernels }}
#define POINTS {{ points }} /* inducing points, filled up to whole lanes with weight 0 */
#define LANES {{ lanes }}

/* Squared distances beyond this one count as this: numbers stay clear of the smallest ones. */
#define FARTHEST REAL({{ farthest }})

/* exp between -{{ largest_exponent }} and 0, to about one unit in the last place, in arithmetic that a compiler
 * can do for many numbers at once. math.h's own where the arithmetic cannot be relied on. */
#if defined(PRSSM_LIBM_EXP) || defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0)
static inline prssm_real exp_of(prssm_real x)
{
    return {{ exp }}(x);
}
#else
typedef union {
    prssm_real number;
    {{ bits }} bits;
} prssm_pun;

static inline prssm_real exp_of(prssm_real x)
{
    const prssm_real magic = REAL({{ magic }}); /* adding it rounds to a whole number */
    prssm_pun power;
    prssm_real whole;
    prssm_real rest;
    prssm_real sum;
    power.number = x * REAL(1.4426950408889634) + magic;
    whole = power.number - magic;
    rest = (x - whole * REAL({{ ln2_high }})) - whole * REAL({{ ln2_low }});
    sum = REAL({{ taylor[0] }});
{% for coefficient in taylor[1:] %}
    sum = sum * rest + REAL({{ coefficient }});
{% endfor %}
    power.bits = (power.bits + {{ bias }}U) << {{ mantissa }};
    return sum * power.number;
}
#endif

/* The sum of products, in lanes. */
static inline prssm_real lanes_dot(const prssm_real *restrict a, const prssm_real *restrict b)
{
    prssm_real part[LANES] = {REAL(0)};
    prssm_real sum = REAL(0);
    for (int p = 0; p < POINTS; p += LANES) {
        for (int lane = 0; lane < LANES; ++lane) {
            part[lane] += a[p + lane] * b[p + lane];
        }
    }
    for (int lane = 0; lane < LANES; ++lane) {
        sum += part[lane];
    }
    return sum;
}

/* Squared distances between xu and the inducing inputs of one kernel, scaled. */
static inline void distances(int member, int kernel, const prssm_real *restrict xu,
                             prssm_real *restrict squared)
{
    prssm_real at[DIN];
    for (int i = 0; i < DIN; ++i) {
        at[i] = xu[i] * INVERSE_LENGTH[member][kernel][i];
    }
    for (int p = 0; p < POINTS; ++p) {
        prssm_real sum = REAL(0);
        for (int i = 0; i < DIN; ++i) {
            const prssm_real apart = ZETA[member][kernel][i][p] - at[i];
            sum += apart * apart;
        }
        squared[p] = (sum < FARTHEST) ? sum : FARTHEST;
    }
}

/* Correlations of xu with all inducing inputs; the signal's variance is in the weights. */
static void correlations(int member, const prssm_real *restrict xu, prssm_real *restrict e)
{
    for (int kernel = 0; kernel < KERNELS; ++kernel) {
        distances(member, kernel, xu, e + kernel * POINTS);
    }
    for (int p = 0; p < KERNELS * POINTS; ++p) {
{% if kernel == "squared-exponential" %}
        e[p] = exp_of(-e[p]);
{% elif kernel == "matern32" %}
        const prssm_real r = {{ sqrt }}(e[p]);
        e[p] = (REAL(1) + r) * exp_of(-r);
{% else %}
        const prssm_real r = {{ sqrt }}(e[p]);
        e[p] = (REAL(1) + r + e[p] / REAL(3)) * exp_of(-r);
{% endif %}
    }
}

/* -2 times their derivatives by the squared distances, at the distances that are given. */
static inline prssm_real slope_of(prssm_real squared)
{
{% if kernel == "squared-exponential" %}
    return REAL(2) * exp_of(-squared);
{% elif kernel == "matern32" %}
    return exp_of(-{{ sqrt }}(squared));
{% else %}
    const prssm_real r = {{ sqrt }}(squared);
    return (REAL(1) + r) * exp_of(-r) / REAL(3);
{% endif %}
}

/* What the inducing points leave unsaid of the function: s^2 - |a|^2 with a = W k. W is lower
 * triangular, and stored column by column. */
static prssm_real unsaid(int member, int kernel, const prssm_real *restrict e,
                         prssm_real *restrict a)
{
    for (int q = 0; q < POINTS; q += LANES) {
        prssm_real part[LANES] = {REAL(0)};
        for (int p = 0; p < q + LANES; ++p) {
            const prssm_real *restrict white = WHITE[member][kernel][p] + q;
            for (int lane = 0; lane < LANES; ++lane) {
                part[lane] += white[lane] * e[p];
            }
        }
        for (int lane = 0; lane < LANES; ++lane) {
            a[q + lane] = part[lane];
        }
    }
    return larger(SIGNAL_VAR[member][kernel] - lanes_dot(a, a), REAL(0));
}

/* What is not known of the inducing outputs: |V'a|^2 with V lower triangular. */
static prssm_real unknown(int member, int d, const prssm_real *restrict a)
{
    prssm_real c[POINTS];
    for (int p = 0; p < POINTS; p += LANES) {
        prssm_real part[LANES] = {REAL(0)};
        for (int q = p; q < POINTS; ++q) {
            const prssm_real *restrict factor = FACTOR[member][d][q] + p;
            for (int lane = 0; lane < LANES; ++lane) {
                part[lane] += factor[lane] * a[q];
            }
        }
        for (int lane = 0; lane < LANES; ++lane) {
            c[p + lane] = part[lane];
        }
    }
    return lanes_dot(c, c);
}
