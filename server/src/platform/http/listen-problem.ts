import type { PlatformConfig } from '../config.ts';
import { ConfigurationError } from '../settings.ts';

/**
 * Turns an error of `listen` into a sentence for the person who starts the service.
 *
 * @throws ConfigurationError when another address or port would do, else the error itself
 */
export function explainListening({ port, host }: Pick<PlatformConfig, 'port' | 'host'>) {
  return (error: unknown): never => {
    const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
    const message = code === undefined ? undefined : sentences[code]?.(host, port);
    throw message === undefined ? error : new ConfigurationError(message, { cause: error });
  };
}

const unknownHost = (host: string) =>
  `This machine has no address ${host}. Set REELFEED_HOST to one of its own, or to 0.0.0.0.`;

const sentences: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} on ${host} is in use by another program. ` +
    'Stop that program, or choose another port with PORT.',
  EACCES: (host, port) =>
    `This user may not listen on port ${port} of ${host}. Choose one above 1023 with PORT.`,
  EADDRNOTAVAIL: unknownHost,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
};
