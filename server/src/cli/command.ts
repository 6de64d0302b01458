/** The arguments of a command. */
export type CommandInput = {
  env: NodeJS.ProcessEnv;
  positionals: string[];
  json: boolean;
  org?: string | undefined;
  type?: string | undefined;
  name?: string | undefined;
  /** The role that `people invite` assigns. */
  role?: string | undefined;
  /** The URL that `webhooks listen` forwards events to. */
  forward?: string | undefined;
  /** The events that `webhooks listen` shows: kinds and patterns, separated by commas. */
  events?: string | undefined;
  /** Whether `import` waits until its items are processed. */
  wait: boolean;
  /** The period that `webhooks recover` covers. */
  since?: string | undefined;
  until?: string | undefined;
  /** Duration for which `live test` publishes. */
  for?: string | undefined;
  /** Whether `live test` publishes over SRT. */
  srt?: boolean | undefined;
  /** Whether a backup includes the encryption key. */
  includeKey: boolean;
  /** A file written by `erasures export`, for `restore`. */
  erasures?: string | undefined;
  /** The statement that `psql` runs instead of reading from standard input. */
  execute?: string | undefined;
  /** The id of the backup that `verify` and `restore` use. */
  backup?: string | undefined;
  /** The period for `export`. For `restore`, `to` is the point in time to restore. */
  from?: string | undefined;
  to?: string | undefined;
  format?: string | undefined;
  compression?: string | undefined;
  filter?: string[] | undefined;
  out?: string | undefined;
  /** Whether `doctor` applies safe fixes. */
  fix?: boolean | undefined;
  /** Whether `doctor` only lists the fixes it would apply. */
  dryRun?: boolean | undefined;
  /**
   * The folder with the PostgreSQL programs that `upgrade-database` reads the old database with.
   */
  oldBinaries?: string | undefined;
  /** Whether `upgrade-database` removes the old database that an upgrade left behind. */
  removeOld?: boolean | undefined;
};

export type Command = (input: CommandInput) => Promise<void>;

/** The command was called with wrong arguments. The message explains the correct usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Prints a result as JSON, or as lines for people. */
export function print(json: boolean, result: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join('\n')}\n`);
}
