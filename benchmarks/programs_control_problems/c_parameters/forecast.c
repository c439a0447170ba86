/* Forecasts of a series that is read from standard input. What stands between the two marks evolves. */
#include <stdio.h>

/* EVOLVE-BLOCK-START */
#define LEVEL 0.9   /* EVOLVE-PARAM 0.001 1.0 */
#define TREND 0.5   /* EVOLVE-PARAM 0.0001 1.0 log */
#define SEASON 0.05 /* EVOLVE-PARAM 0.001 1.0 */
#define PERIOD 5    /* EVOLVE-PARAM 2 40 int */
#define DAMPING 0.5 /* EVOLVE-PARAM 0.0 1.0 */
/* EVOLVE-BLOCK-END */

int main(void) {
    double season[64] = {0}, level = 10, trend = 0, value;
    for (int k = 0; scanf("%lf", &value) == 1; k++) {
        int place = k % PERIOD;
        printf("%.6f\n", level + DAMPING * trend + season[place]);
        double before = level;
        level = LEVEL * (value - season[place]) + (1 - LEVEL) * (level + DAMPING * trend);
        trend = TREND * (level - before) + (1 - TREND) * DAMPING * trend;
        season[place] = SEASON * (value - level) + (1 - SEASON) * season[place];
    }
    return 0;
}
