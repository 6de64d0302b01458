/** Reading errors of `pg`: which mean that the database is away, which that a rule was broken. */

/** The five-character SQLSTATE of a PostgreSQL error, or null. */
export function sqlState(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null;
}

/** The name of the constraint that a write has broken, or null. */
export function brokenConstraint(error: unknown): string | null {
  const state = sqlState(error);
  if (state === null || !state.startsWith('23')) return null;
  const constraint = (error as { constraint?: unknown }).constraint;
  return typeof constraint === 'string' ? constraint : null;
}

/**
 * Server states in which the same request may succeed a moment later: connection failures (08),
 * too many connections (53300), shutdown and start-up (57P01 to 57P03), statement and lock
 * timeouts (57014, 55P03), and an idle transaction that was ended (25P03).
 */
const awayStates = /^(08...|53300|57P0[123]|57014|55P03|25P03)$/;

const awaySystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Sentences of `pg` for a lost connection; it gives these errors no code. */
const awayMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|The server closed the connection|Cannot use a pool after calling end|Client was closed)/;

/** Whether an error means that PostgreSQL is away or overloaded, not that the statement is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlState(error);
  if (state !== null && awayStates.test(state)) return true;
  const code = (error as NodeJS.ErrnoException).code;
  const syscall = (error as NodeJS.ErrnoException).syscall;
  if (
    code !== undefined &&
    awaySystemCodes.has(code) &&
    (code !== 'ENOENT' || syscall === 'connect')
  ) {
    return true;
  }
  return awayMessages.test(error.message);
}

/** Whether PostgreSQL itself has run out of disk space (53100). */
export function isDatabaseFull(error: unknown): boolean {
  return sqlState(error) === '53100';
}
