/* Beyond this everything is equally far away, and squares are numbers. */
#define AWAY REAL({{ away }})
{% if cloud %}
#define CLOUD {{ cloud }} /* points that training has shown */
#define AXES {{ axes }}
{% endif %}

static prssm_real tamed(prssm_real value)
{
    if (!(value < AWAY)) {
        return AWAY;
    }
    return larger(value, -AWAY);
}

/* By how much the worst of some values is beyond its limits, and which one; 0 where none is. */
static prssm_real beyond(const prssm_real *value, const prssm_real *low, const prssm_real *high,
                         int count, int *worst)
{
    prssm_real most = REAL(0);
    for (int i = 0; i < count; ++i) {
        const prssm_real now = tamed(value[i]);
        const prssm_real over = larger(low[i] - now, now - high[i]);
        if (over > most) {
            most = over;
            *worst = i;
        }
    }
    return most;
}

{% if cloud %}
/* How far the first member's mean state and the input are from all that training has shown, and
 * the direction away from the nearest point of it, by each of the inputs. */
static prssm_real from_cloud(const prssm_real xu[DIN], prssm_real along[DU + 1])
{
    prssm_real at[AXES];
    prssm_real least = REAL(-1);
    int nearest = 0;
    for (int axis = 0; axis < AXES; ++axis) {
        at[axis] = REAL(0);
        for (int i = 0; i < DIN; ++i) {
            at[axis] += (tamed(xu[i]) - SEEN_CENTRE[i]) * SEEN_AXES[axis][i];
        }
    }
    for (int p = 0; p < CLOUD; ++p) {
        prssm_real square = REAL(0);
        for (int axis = 0; axis < AXES; ++axis) {
            square += (at[axis] - SEEN_POINTS[p][axis]) * (at[axis] - SEEN_POINTS[p][axis]);
        }
        if ((least < REAL(0)) || (square < least)) {
            least = square;
            nearest = p;
        }
    }
    least = {{ sqrt }}(least);
    for (int i = 0; i < DU; ++i) {
        along[i] = REAL(0);
        for (int axis = 0; (axis < AXES) && (least > REAL(0)); ++axis) {
            along[i] += (at[axis] - SEEN_POINTS[nearest][axis]) * SEEN_AXES[axis][DX + i] / least;
        }
    }
    return least - REAL({{ limit }});
}

{% endif %}
/* How far outside of the training data a step is, `mean` being its scaled output, or still counts
 * as being; and its derivatives by the scaled inputs. */
static prssm_real outside(const prssm_state *state, const prssm_real *scaled_u,
                          const prssm_real mean[DY], prssm_real slope[DU + 1])
{
    prssm_real far;
    int worst = 0;
    prssm_real other;
    for (int i = 0; i <= DU; ++i) {
        slope[i] = REAL(0);
    }
    far = beyond(mean, SEEN_Y[0], SEEN_Y[1], DY, &worst);
{% if inputs %}
    for (int i = 0; (i < DU) && (far > REAL(0)); ++i) {
        for (int member = 0; member < MEMBERS; ++member) {
            slope[i] += C[member][worst][DX + i] / REAL(MEMBERS);
        }
        slope[i] = (mean[worst] > SEEN_Y[1][worst]) ? slope[i] : -slope[i];
    }
    other = beyond(scaled_u, SEEN_U[0], SEEN_U[1], DU, &worst);
    if (other > far) {
        far = other;
        for (int i = 0; i < DU; ++i) {
            slope[i] = REAL(0);
        }
        slope[worst] = (scaled_u[worst] > SEEN_U[1][worst]) ? REAL(1) : REAL(-1);
    }
{% endif %}
{% if cloud %}
    {
        prssm_real centre[DX];
        prssm_real xu[DIN];
        prssm_real along[DU + 1];
        for (int d = 0; d < DX; ++d) {
            centre[d] = REAL(0);
            for (int j = 0; j < SHARE; ++j) {
                centre[d] += state->x[j][d] / REAL(SHARE);
            }
        }
        join(centre, scaled_u, xu);
        other = from_cloud(xu, along);
        if (other > far) {
            far = other;
            for (int i = 0; i < DU; ++i) {
                slope[i] = along[i];
            }
        }
    }
{% endif %}
    if (far > REAL({{ most }})) {
        far = REAL({{ most }});
        for (int i = 0; i < DU; ++i) {
            slope[i] = REAL(0);
        }
    }
    other = REAL({{ fades }}) * state->far;
    if (other > far) {
        far = other;
        for (int i = 0; i < DU; ++i) {
            slope[i] = REAL(0);
        }
    }
    return far;
}
