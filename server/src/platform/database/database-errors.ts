/**
 * Interprets errors from `pg`: whether the database is unavailable, or a constraint was violated.
 */

/** The five-character SQLSTATE of a PostgreSQL error, or null. */
export function sqlState(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null;
}

/** The name of the constraint that a write violated, or null. */
export function brokenConstraint(error: unknown): string | null {
  const state = sqlState(error);
  if (state === null || !state.startsWith('23')) return null;
  const constraint = (error as { constraint?: unknown }).constraint;
  return typeof constraint === 'string' ? constraint : null;
}

/**
 * SQLSTATEs after which the same request may soon succeed: connection failures (08), too many
 * connections (53300), shutdown and start-up (57P01 to 57P03), statement and lock timeouts (57014,
 * 55P03), a terminated idle transaction (25P03), and a server that has become a standby (25006).
 */
const awayStates = /^(08...|53300|57P0[123]|57014|55P03|25P03|25006)$/;

const awaySystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * An error for a connection that this process abandoned. It looks like the error of a broken
 * connection.
 */
export function connectionLost(reason: string): Error {
  return new Error(`Connection terminated: ${reason}`);
}

/** Messages from `pg` about a lost connection; these errors have no code. */
const awayMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|The server closed the connection|Cannot use a pool after calling end|Client was closed)/;

/**
 * Returns whether an error means that PostgreSQL is unavailable or overloaded, rather than that the
 * statement is wrong.
 */
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

/** Returns whether a transaction failed because of contention even after retries (40001, 40P01). */
export function isContention(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** SQLSTATEs that call for different connection settings: privileges, user, password, database. */
const refusedStates = /^(28...|3D000|42501)$/;
const refusedEncryption = /\b(SSL|TLS)\b|certificate/i;

/**
 * Tells an operator in one sentence, without secrets, why the database can't be used. Returns null
 * for errors that are not about the connection.
 */
export function connectionProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const reason = (
    error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message
  ).replace(/\.$/, '');
  if (refusedStates.test(sqlState(error) ?? '')) {
    return `PostgreSQL rejected the connection: ${reason}. Check DATABASE_URL.`;
  }
  if (isDatabaseAway(error)) {
    return `Cannot reach PostgreSQL: ${reason}. Check that it is running, and check DATABASE_URL.`;
  }
  return refusedEncryption.test(reason)
    ? `Cannot connect to PostgreSQL securely: ${reason}. Check the sslmode of DATABASE_URL.`
    : null;
}

/** Returns whether PostgreSQL has run out of disk space (53100). */
export function isDatabaseFull(error: unknown): boolean {
  return sqlState(error) === '53100';
}
