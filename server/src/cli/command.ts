/** The arguments of a command. */
export type CommandInput = {
  env: NodeJS.ProcessEnv;
  positionals: string[];
  json: boolean;
  org?: string | undefined;
  type?: string | undefined;
  name?: string | undefined;
  /** The role that `people invite` gives. */
  role?: string | undefined;
  /** The URL that `webhooks listen` forwards events to. */
  forward?: string | undefined;
  /** Which events `webhooks listen` shows: kinds and patterns, separated by commas. */
  events?: string | undefined;
  /** Whether `import` waits until its items are processed. */
  wait: boolean;
  /** The period that `webhooks recover` covers. */
  since?: string | undefined;
  until?: string | undefined;
  /** How long `live test` publishes. */
  for?: string | undefined;
  /** Whether a backup includes the encryption key. */
  includeKey: boolean;
  /** A file of `erasures export`, for `restore`. */
  erasures?: string | undefined;
  /** The statement that `psql` runs instead of asking for some. */
  execute?: string | undefined;
  /** The id of the backup that `verify` and `restore` take. */
  backup?: string | undefined;
  /** What `export` makes a file of; for `restore`, the moment that it restores. */
  from?: string | undefined;
  to?: string | undefined;
  format?: string | undefined;
  compression?: string | undefined;
  filter?: string[] | undefined;
  out?: string | undefined;
  /** Whether `doctor` fixes what is safe to fix. */
  fix?: boolean | undefined;
  /** Whether `doctor` only says what it would fix. */
  dryRun?: boolean | undefined;
  /** The folder with the programs that `upgrade-database` reads the old database by. */
  oldBinaries?: string | undefined;
  /** Whether `upgrade-database` removes the old database that an upgrade has left. */
  removeOld?: boolean | undefined;
};

export type Command = (input: CommandInput) => Promise<void>;

/** The command was called with wrong arguments. The message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Prints a result as JSON, or as lines for a person. */
export function print(json: boolean, result: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join('\n')}\n`);
}
