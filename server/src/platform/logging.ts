import { pino, type DestinationStream, type Logger } from 'pino';

/** Fields that may hold a key, a token or a password, wherever a caller puts them. */
const redacted = ['authorization', 'key', 'token', 'secret', 'password', 'headers', 'connectionString'];

/**
 * The service's logger: one JSON object a line. ERROR means that a person must act.
 * Request, job and attempt write one wide line each.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: describeError },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** What helps a person, and nothing else that a library has hung on its error objects. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const code = (error as NodeJS.ErrnoException).code;
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause: describeError(cause) }),
  };
}
