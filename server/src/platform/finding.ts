/** What `reelfeed doctor` reports. */
import { connectionProblem } from './database/database-errors.ts';
import { ConfigurationError } from './settings.ts';

/** The result of one check. `mend` says how to fix a problem. */
export type Finding = {
  subject: string;
  state: 'ok' | 'note' | 'problem';
  detail: string;
  mend?: string;
};

/** A check that could not be made. */
export function problemOf(subject: string, error: unknown): Finding {
  const isOurs = error instanceof ConfigurationError;
  const detail = (isOurs ? null : connectionProblem(error)) ?? (error as Error).message;
  return { subject, state: 'problem', detail };
}
