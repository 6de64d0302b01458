import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';

/** Fields that may hold a key, a token or a password, wherever a caller puts them. */
const redacted = [
  'authorization',
  'key',
  'token',
  'secret',
  'password',
  'headers',
  'connectionString',
];

/**
 * Bytes that may be buffered for a slow reader of the log, so that a flood of lines cannot exhaust
 * memory.
 */
const maxWaitingBytes = 8 * 1024 * 1024;
const maxWrittenBytes = 64 * 1024;

/**
 * The service's logger: one JSON object a line. ERROR means that a person must act.
 * Request, job and attempt write one wide line each.
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: { err: (error: unknown) => describeError(error) },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  return destination === undefined ? logToOutput(options) : pino(options, destination);
}

/** Lines that find no room are dropped, and counted in a line that follows. */
function logToOutput(options: LoggerOptions): Logger {
  const output = pino.destination({
    dest: process.stderr.fd,
    sync: false,
    maxLength: maxWaitingBytes,
    maxWrite: maxWrittenBytes,
  });
  const log = pino(options, output);
  let dropped = 0;
  output.on('drop', () => {
    dropped += 1;
  });
  output.on('drain', () => {
    if (dropped === 0) return;
    log.warn(
      { lines: dropped },
      'log lines were dropped because the reader of the log is too slow',
    );
    dropped = 0;
  });
  return log;
}

/** Causes may name each other in a circle. */
const maxCauses = 5;
const maxListedErrors = 10;

/** Only the fields of an error that help a person; libraries attach many others. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  if (depth > maxCauses) return { type: error.name, message: error.message };
  const { name, message, stack, cause } = error;
  const code = (error as NodeJS.ErrnoException).code;
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause !== undefined && { cause: describeError(cause, depth + 1) }),
    // A connection that was tried on several addresses fails so, with an empty message.
    ...(error instanceof AggregateError && {
      errors: error.errors.slice(0, maxListedErrors).map((one) => describeError(one, depth + 1)),
    }),
  };
}
