/**
 * Experiments on rankings, settings and flags. This file is the interface for other features.
 *
 *   assignments/  who gets what, decided from memory, and the record of exposures
 *   units/        what exposed viewers did: tables that follow the projection `engagement`
 *   statistics/   pure functions from these figures to values, tests and a recommendation
 */
import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { Assignments } from './assignments/assignments.ts';
import { Exposures } from './assignments/exposures.ts';

export { listVariantsForExport } from './export-queries.ts';
export type { Assignments } from './assignments/assignments.ts';

export type OpenExperiments = AsyncDisposable & {
  readonly assignments: Assignments;
  readonly exposures: Exposures;
};

/** Loads the assignments of viewers. Dispose of it after the last request has been answered. */
export async function openExperiments(db: Db, log: Logger, hints: Hints): Promise<OpenExperiments> {
  await using opening = new AsyncDisposableStack();
  const exposures = opening.use(new Exposures(db, log));
  const assignments = opening.use(new Assignments({ db, exposures, hints, log }));
  await assignments.refresh();
  const opened = opening.move();
  return { assignments, exposures, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
