/** The client of a running service, for commands that work through its API. */
import { createAdmin, ReelfeedError, type Admin } from '@reelfeed/client/server';
import { UsageError, type CommandInput } from './command.ts';

/** Where the service is, from REELFEED_PUBLIC_URL or PORT. */
export function serviceUrl({ env }: CommandInput): string {
  return env['REELFEED_PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 4000}`;
}

/** That nothing answers there, and what to do. */
export function noServiceAt(input: CommandInput): string {
  const url = serviceUrl(input);
  return `There is no service at ${url}. Start it with \`npm start\`, or set REELFEED_PUBLIC_URL to where it is.`;
}

/** An error of the client as a sentence for the operator; any other one as it is. */
export function explainRequest(input: CommandInput, error: unknown): unknown {
  if (!(error instanceof ReelfeedError)) return error;
  return new UsageError(error.status === null ? noServiceAt(input) : error.message);
}

/** @throws UsageError with `usage`, when a setting is missing or wrong */
export function openAdmin(input: CommandInput, usage: string): Admin {
  const secretKey = input.env['REELFEED_SECRET_KEY'];
  if (secretKey === undefined) throw new UsageError(`REELFEED_SECRET_KEY is not set.\n\n${usage}`);
  try {
    return createAdmin({ baseUrl: serviceUrl(input), secretKey, timeoutMs: 60_000 });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}
