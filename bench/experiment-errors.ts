/**
 * How often are experiments wrong? Runs A/A experiments of 14 days through the real assignment,
 * projection reducers, looks and statistics, reading each every day: split 50/50 and 90/10, with
 * and without a planned end, and with growing traffic. Also measures custom metrics, guardrails and
 * segments, the power to find an effect of known size, and the alarm for a split of 51/49. Each
 * case has RUNS experiments; a test keeps this simulation equal to the service's database.
 */
import { assignVariant } from '@reelfeed/client/assignment';
import type { ExperimentRow } from '../server/src/features/experiments/experiment.ts';
import { simulatedRow, type Simulation } from '../server/test/simulation/simulated-row.ts';
import { simulateOne, tallyFalseFindings } from '../server/test/simulation/simulation.ts';
import {
  metricNames,
  type TreatmentResult,
} from '../server/src/features/experiments/statistics/analysis.ts';
import { checkSampleRatio } from '../server/src/features/experiments/statistics/sample-ratio.ts';
import { tallyGuardrails, tallyOwnFindings } from '../server/test/simulation/simulation-own.ts';
import { report, type Row } from './lib/report.ts';

const runs = Number(process.env['RUNS'] ?? 1_000);
const rows: Row[] = [];
const ramp = { from: 0.3, untilDay: 3, laterStay: 2 };

/** The limit plus two standard errors of a share of the runs. */
function withNoise(limit: number): number {
  return limit + 2 * Math.sqrt((limit * (1 - limit)) / runs);
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

function addErrorRows(name: string, options: Simulation): void {
  const tally = tallyFalseFindings(runs, options);
  const add = (what: string, count: number, limit: number) =>
    rows.push({
      what: `${name}: ${what}`,
      figure: percent(count / runs),
      limit: `${percent(limit)} and noise`,
      kept: count / runs <= withNoise(limit),
    });
  add('a winner is named', tally.winners, 0.05);
  for (const metric of metricNames) {
    const [better, worse] = [tally.better[metric], tally.worse[metric]];
    add(`${metric}, any difference`, better + worse, 0.05);
    add(`${metric}, better`, better, 0.03);
    add(`${metric}, worse`, worse, 0.03);
  }
  add('alarm of the sample ratio', tally.alarms, 0.01);
}

// Enough viewers for the smaller arm to have its 100 units.
addErrorRows('A/A 50/50', { viewers: 400, seed: 1_000, split: 0.5 });
addErrorRows('A/A 90/10', { viewers: 1_300, seed: 100_000, split: 0.9 });
// Traffic grows from 30 % to all viewers on the third day, and viewers who enter then watch longer.
addErrorRows('A/A 50/50, ramp', { viewers: 500, seed: 500_000, split: 0.5, ramp });
addErrorRows('A/A 50/50, no end', { viewers: 400, seed: 200_000, split: 0.5, isPlanned: false });

/** Custom metrics, guardrails and segments, each with the error rate of its own claim. */
function addOwnRows(): void {
  const add = (what: string, count: number, limit: number) =>
    rows.push({
      what,
      figure: percent(count / runs),
      limit: `${percent(limit)} and noise`,
      kept: count / runs <= withNoise(limit),
    });
  const own = tallyOwnFindings(runs, { viewers: 1_300, seed: 500_000, split: 0.5 });
  add('A/A: a ratio of the own, any difference', own.ratio, 0.05);
  add('A/A: a ratio of the own names a winner', own.winners, 0.05);
  add('A/A: any of four segments', own.segments, 0.05);
  const atMargin = { viewers: 400, split: 0.5, margin: 0.2 };
  const just = tallyGuardrails(runs, { ...atMargin, seed: 600_000, longer: 0.8 });
  add('worse by exactly the margin: alarm of the guardrail', just.harmed, 0.05);
  add('worse by exactly the margin: guardrail passed', just.passed, 0.025);
  const open = tallyGuardrails(runs, {
    ...atMargin,
    seed: 700_000,
    longer: 0.8,
    isPlanned: false,
  });
  add('worse by exactly the margin, no end: guardrail passed', open.passed, 0.025);
  const far = tallyGuardrails(Math.ceil(runs / 5), { ...atMargin, seed: 800_000, longer: 0.3 });
  const share = far.harmed / Math.ceil(runs / 5);
  rows.push({ what: 'worse by 70 %, margin 20 %: alarm within 14 days', figure: percent(share) });
}

/** The effect that results call detectable with 80 % power, and how often it is found. */
function powerRow(): Row {
  const options = { viewers: 400, split: 0.5 };
  const startMs = Date.UTC(2026, 0, 5, 12);
  const watchTimeOf = (run: number, seed: number, longer: number) => {
    const row: ExperimentRow = {
      ...simulatedRow(run, startMs, { ...options, seed }),
      metrics: ['watchTime'],
      primary_metric: 'watchTime',
    };
    return simulateOne(row, { ...options, seed, longer }).map(
      ({ analysis }) => analysis.arms[1]?.metrics.watchTime as TreatmentResult,
    );
  };
  const pilots = Math.ceil(runs / 5);
  let detectable = 0;
  for (let run = 0; run < pilots; run += 1) {
    detectable += watchTimeOf(run, 300_000 + run, 1).at(-1)?.minimumDetectableEffect ?? 0;
  }
  const effect = detectable / pilots;
  let found = 0;
  for (let run = 0; run < runs; run += 1) {
    const reads = watchTimeOf(run, 400_000 + run, 1 + effect);
    if (reads.some(({ significant, lift }) => significant && (lift ?? 0) > 0)) found += 1;
  }
  return {
    what: `an effect of ${percent(effect)}, which 80 % should find`,
    figure: percent(found / runs),
    limit: '75 to 85 %',
    kept: Math.abs(found / runs - 0.8) <= 0.05,
  };
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

addOwnRows();
rows.push(powerRow(), alarmRow());
report(rows);
