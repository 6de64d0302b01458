/** Decides which viewers an experiment takes alongside the running ones. */
import { ApiError } from '../../platform/http/errors.ts';
import { experimentErrors } from './errors.ts';
import { exclusionOf, type ExperimentRow, type SlotRange } from './experiment.ts';
import { areExclusive, freeShare, takeRanges } from './layer.ts';

/** The place of an experiment among those it excludes. */
type Place = { readonly layer: string | null; readonly ranges: readonly SlotRange[] };

/** The place of a draft that starts. @throws ApiError LAYER_FULL, SETTING_IN_EXPERIMENT */
export function placeInLayer(row: ExperimentRow, running: readonly ExperimentRow[]): Place {
  if (row.type !== 'ranking') requireOwnKeys(row, running);
  const exclusion = exclusionOf(row);
  if (exclusion === null) return { layer: null, ranges: [[0, row.traffic]] };
  const [other] = running.filter((each) => exclusionOf(each) === exclusion);
  const ranges = takeFree(row, running, [], row.traffic);
  return { layer: other === undefined ? row.experiment_id : other.layer, ranges };
}

/**
 * The ranges of a running experiment after a traffic increase. They include its current ranges, so
 * no participant is moved.
 *
 * @throws ApiError LAYER_FULL
 */
export function grownRanges(
  row: ExperimentRow,
  traffic: number,
  running: readonly ExperimentRow[],
): readonly SlotRange[] {
  if (exclusionOf(row) === null) return [[0, traffic]];
  const own = row.ranges ?? [];
  return [...own, ...takeFree(row, running, own, traffic - row.traffic)];
}

function takeFree(
  row: ExperimentRow,
  running: readonly ExperimentRow[],
  own: readonly SlotRange[],
  share: number,
): SlotRange[] {
  const exclusion = exclusionOf(row);
  const others = running.filter(
    (each) =>
      each.number !== row.number &&
      exclusionOf(each) === exclusion &&
      !areExclusive(each.targeting, row.targeting),
  );
  const taken = [...own, ...others.flatMap(({ ranges }) => ranges ?? [])];
  const found = takeRanges(taken, share, Math.random());
  if (found !== null) return found;
  const free = Number(freeShare(taken).toFixed(6));
  const which = row.type === 'ranking' ? 'ranking experiments' : 'experiments of the group';
  const message = `Running ${which} leave ${free} of the traffic free. This experiment needs ${Number(share.toFixed(6))}.`;
  throw new ApiError(experimentErrors.LAYER_FULL, { message });
}

function requireOwnKeys(row: ExperimentRow, running: readonly ExperimentRow[]): void {
  const keys = overriddenKeys(row);
  for (const other of running) {
    if (other.type !== row.type) continue;
    const shared = [...overriddenKeys(other)].find((key) => keys.has(key));
    if (shared === undefined) continue;
    const what = row.type === 'config' ? 'setting' : 'flag';
    const message = `The running experiment ${other.experiment_id} already overrides the ${what} "${shared}".`;
    throw new ApiError(experimentErrors.SETTING_IN_EXPERIMENT, { message });
  }
}

function overriddenKeys({ variants }: ExperimentRow): Set<string> {
  return new Set(variants.flatMap(({ config }) => Object.keys(config)));
}
