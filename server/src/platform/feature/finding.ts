/** The reports of `reelfeed doctor`. */
import { connectionProblem } from '../database/database-errors.ts';
import { ConfigurationError } from '../settings/settings.ts';

/** The result of one check. `mend` says how to fix a problem. */
export type Finding = {
  subject: string;
  state: 'ok' | 'note' | 'problem';
  detail: string;
  mend?: string;
  fix?: Fix;
};

/**
 * A fix that `reelfeed doctor --fix` applies. It must be safe for every installation: idempotent,
 * and never removing anything that might still be needed.
 */
export type Fix = {
  /** The change that the fix makes, such as `apply 2 migrations`. */
  action: string;
  apply: () => Promise<unknown>;
};

/** A check that failed to run. */
export function problemOf(subject: string, error: unknown): Finding {
  const isOurs = error instanceof ConfigurationError;
  const detail = (isOurs ? null : connectionProblem(error)) ?? (error as Error).message;
  return { subject, state: 'problem', detail };
}
