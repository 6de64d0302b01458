/** What a command of the command line is given. */
export type CommandInput = {
  env: NodeJS.ProcessEnv;
  positionals: string[];
  json: boolean;
  org?: string | undefined;
  type?: string | undefined;
  name?: string | undefined;
  /** Where `webhooks listen` posts what it receives. */
  forward?: string | undefined;
  /** Whether `import` waits until what it brought is processed. */
  wait: boolean;
  /** The time of what `webhooks recover` sends again. */
  since?: string | undefined;
  until?: string | undefined;
  /** Whether a backup takes the encryption key along. */
  includeKey: boolean;
};

export type Command = (input: CommandInput) => Promise<void>;

/** The command was called in a way that it does not know; the message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Prints a result as JSON, or as lines for a person. */
export function print(json: boolean, result: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join('\n')}\n`);
}
