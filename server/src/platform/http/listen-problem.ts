import type { PlatformConfig } from '../settings/config.ts';
import { ConfigurationError } from '../settings/settings.ts';

/**
 * Explains an error of `listen` to the operator in one sentence. `variable` is the setting with the
 * port.
 *
 * @throws ConfigurationError if another address or port would help, otherwise the error itself
 */
export function explainListening(
  { port, host }: Pick<PlatformConfig, 'port' | 'host'>,
  variable = 'PORT',
) {
  return (error: unknown): never => {
    const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
    const message = code === undefined ? undefined : sentences[code]?.(host, port, variable);
    throw message === undefined ? error : new ConfigurationError(message, { cause: error });
  };
}

const unknownHost = (host: string) =>
  `This machine has no address ${host}. Set REELFEED_HOST to one of its addresses, or to 0.0.0.0.`;

const sentences: Record<string, (host: string, port: number, variable: string) => string> = {
  EADDRINUSE: (host, port, variable) =>
    `Port ${port} on ${host} is in use by another program. ` +
    `Stop that program, or choose another port with ${variable}.`,
  EACCES: (host, port, variable) =>
    `This user may not listen on port ${port} of ${host}. Choose one above 1023 with ${variable}.`,
  EADDRNOTAVAIL: unknownHost,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
};
