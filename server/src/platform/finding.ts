/** What `reelfeed doctor` reports. */
import { connectionProblem } from './database/database-errors.ts';
import { ConfigurationError } from './settings.ts';

/** The result of one check. `mend` says how to fix a problem. */
export type Finding = {
  subject: string;
  state: 'ok' | 'note' | 'problem';
  detail: string;
  mend?: string;
  fix?: Fix;
};

/**
 * What `reelfeed doctor --fix` does about a finding. It must be safe for every installation: it removes
 * nothing that anybody could want, and it is idempotent.
 */
export type Fix = {
  /** What it changes, such as `apply 2 migrations`. */
  action: string;
  apply: () => Promise<unknown>;
};

/** A check that could not be made. */
export function problemOf(subject: string, error: unknown): Finding {
  const isOurs = error instanceof ConfigurationError;
  const detail = (isOurs ? null : connectionProblem(error)) ?? (error as Error).message;
  return { subject, state: 'problem', detail };
}
