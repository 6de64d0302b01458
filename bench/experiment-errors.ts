/**
 * How often are experiments wrong? A/A experiments of 14 days through assignment, exposures, event log,
 * projection and statistics, each read every day, split 50/50 and 90/10; the power to find an effect of
 * known size; and whether a split of 51/49 raises the alarm.
 */
import { assignVariant } from '@reelfeed/client/assignment';
import { simulate } from '../server/src/features/experiments/simulation.fixture.ts';
import { lookMoments, lookTimes } from '../server/src/features/experiments/looks.ts';
import { compareMeans } from '../server/src/features/experiments/statistics/comparison.ts';
import { groupSequential } from '../server/src/features/experiments/statistics/group-sequential.ts';
import { requiredUnits } from '../server/src/features/experiments/statistics/power.ts';
import { createRandom } from '../server/src/features/experiments/statistics/random.fixture.ts';
import { checkSampleRatio } from '../server/src/features/experiments/statistics/sample-ratio.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const experiments = Number(process.env['EXPERIMENTS'] ?? 500);
const viewers = Number(process.env['VIEWERS'] ?? 300);
const rows: Row[] = [];

/** Two standard errors of a share of the experiments, above its limit. */
function withNoise(limit: number): number {
  return limit + 2 * Math.sqrt((limit * (1 - limit)) / experiments);
}

for (const split of [0.5, 0.9]) {
  await using service = await startBenchService({ REELFEED_ROLES: 'api' });
  const { db } = service.database;
  const seed = Math.round(split * 100);
  const outcome = await simulate(db, { experiments, viewers, seed, split });
  const percent = (count: number) => `${((100 * count) / outcome.tested).toFixed(1)} %`;
  const name = `${outcome.tested} A/A experiments, ${100 * split}/${Math.round(100 - 100 * split)}`;
  rows.push({
    what: `${name}: any difference`,
    figure: percent(outcome.differences),
    limit: '5 % and noise',
    kept: outcome.differences / outcome.tested <= withNoise(0.05),
  });
  for (const tail of ['better', 'worse'] as const) {
    rows.push({
      what: `${name}: ${tail}`,
      figure: percent(outcome[tail]),
      limit: '3 % and noise',
      kept: outcome[tail] / outcome.tested <= withNoise(0.03),
    });
  }
}

/** Units of two arms enter evenly over 14 days; the effect is that for which the plan promises 80 %. */
function powerRow(): Row {
  const dayMs = 24 * 3_600_000;
  const moments = lookMoments(0, 14 * dayMs, 7);
  const times = lookTimes(moments, 0, 14 * dayMs);
  const difference = 0.2;
  const variance = { controlVariance: 1, treatmentVariance: 1 };
  const perArm = Math.ceil(requiredUnits({ difference, ...variance, alpha: 0.05, power: 0.8 }));
  const random = createRandom(80);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const rounds = 4_000;
  let found = 0;
  for (let round = 0; round < rounds; round += 1) {
    const control = new Sums();
    const treatment = new Sums();
    for (const [look, time] of times.entries()) {
      while (control.units < perArm * time) {
        control.add(normal());
        treatment.add(normal() + difference);
      }
      const comparison = compareMeans(control.estimate(), treatment.estimate());
      if (
        comparison !== null &&
        groupSequential(times, look).correct(comparison.pValue, 0) < 0.05
      ) {
        found += 1;
        break;
      }
    }
  }
  return {
    what: 'power where the plan promises 80 %',
    figure: `${((100 * found) / rounds).toFixed(1)} %`,
    limit: '75 to 85 %',
    kept: Math.abs(found / rounds - 0.8) <= 0.05,
  };
}

class Sums {
  units = 0;
  #sum = 0;
  #squares = 0;

  add(value: number): void {
    this.units += 1;
    this.#sum += value;
    this.#squares += value * value;
  }

  estimate() {
    const mean = this.#sum / this.units;
    const variance = (this.#squares - this.units * mean * mean) / (this.units - 1);
    return { units: this.units, mean, variance };
  }
}

function alarmRow(): Row {
  const rounds = 100;
  let alarms = 0;
  for (let round = 0; round < rounds; round += 1) {
    const plan = {
      gateSalt: `${round}:gate`,
      splitSalt: `${round}:split`,
      ranges: [[0, 1]] as const,
      variants: [
        { id: 'a', traffic: 0.51 },
        { id: 'b', traffic: 0.49 },
      ],
      targeting: {},
    };
    let first = 0;
    for (let unit = 0; unit < 100_000; unit += 1) {
      if (assignVariant(plan, `unit-${unit}`, {}) === 'a') first += 1;
    }
    const arms = [
      { units: first, weight: 0.5 },
      { units: 100_000 - first, weight: 0.5 },
    ];
    if (!checkSampleRatio(arms).ok) alarms += 1;
  }
  return {
    what: 'a split of 51/49 at 100,000 units raises the alarm',
    figure: `${alarms} of ${rounds}`,
    limit: '99 %',
    kept: alarms >= 99,
  };
}

rows.push(powerRow(), alarmRow());
report(rows);
