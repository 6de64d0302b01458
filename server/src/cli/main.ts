/** The `reelfeed` command. */
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { version } from '../version.ts';
import { UsageError, type Command } from './command.ts';

// A command spends most of its time on parsing code; later runs use the cache.
enableCompileCache();

type Entry = {
  summary: string;
  /** The usage line, if it is more than the name. */
  usage?: string | readonly string[];
  /** The number of arguments after the name. Default: none. */
  maxWords?: number;
  /** Loaded on demand, so that `reelfeed help` does not load the whole service. */
  load: () => Promise<Command>;
};

const commands: Record<string, Entry> = {
  start: {
    summary: 'start the service in the foreground',
    load: async () => (await import('./start.ts')).start,
  },
  demo: {
    summary: 'start the service with sample videos and viewers, in a separate data directory',
    load: async () => (await import('./demo/demo.ts')).demo,
  },
  migrate: {
    summary: 'migrate the database to this version; `migrate status` only reports',
    usage: ['migrate', 'migrate status'],
    maxWords: 1,
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  org: {
    summary: '`org create <name>` creates an organization and its keys, `org list` shows all',
    usage: ['org create <name>', 'org list'],
    maxWords: Infinity,
    load: async () => (await import('./organizations.ts')).organizationsCommand,
  },
  keys: {
    summary:
      '`keys create --type secret|publishable --name <name>`, `list`, `revoke <id>`, `generate`',
    usage: [
      'keys list [--org <id>]',
      'keys create --type secret|publishable --name <name> [--org <id>]',
      'keys revoke <key id> [--org <id>]',
      'keys generate --type secret|publishable',
    ],
    maxWords: 2,
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  people: {
    summary: 'manage console accounts: list, invite, remove, reset passwords',
    usage: [
      'people list [--org <id>]',
      'people invite <email> --role viewer|analyst|editor|admin|owner [--org <id>]',
      'people remove <email> [--org <id>]',
      'people reset <email>',
      'people remove-second-factor <email>',
      'people remove-passkeys <email>',
    ],
    maxWords: 2,
    load: async () => (await import('./people.ts')).peopleCommand,
  },
  webhooks: {
    summary:
      'show events as they happen, trigger a test event or resend failed deliveries; see `help webhooks`',
    usage: [
      'webhooks listen [--events <kinds>] [--forward <url>]',
      'webhooks trigger <event> [<webhook id>]',
      'webhooks recover <webhook id> --since <time> [--until <time>]',
    ],
    maxWords: 3,
    load: async () => (await import('./webhooks.ts')).webhooksCommand,
  },
  live: {
    summary: '`live test` publishes a test picture to a live stream',
    usage: 'live test [stream key] [--for <duration>] [--srt]',
    maxWords: 2,
    load: async () => (await import('./live.ts')).liveCommand,
  },
  import: {
    summary:
      'import a folder of videos, or the rows of a .csv or .ndjson file, into a running service',
    usage: 'import <folder|file.csv|file.ndjson> [--wait] [--json]',
    maxWords: 1,
    load: async () => (await import('./import/import.ts')).importCommand,
  },
  export: {
    summary: 'export events, viewers, items or metrics of a running service to a file',
    usage:
      'export <dataset> [--from <day>] [--to <day>] [--format ndjson|csv|parquet] ' +
      '[--compression none|gzip|zstd] [--filter <name>=<value>]… [--out <file>]',
    maxWords: 1,
    load: async () => (await import('./export.ts')).exportCommand,
  },
  doctor: {
    summary: 'check this installation for problems; `--fix` fixes what is safe to fix',
    usage: 'doctor [--fix] [--dry-run] [--json]',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  reload: {
    summary: 'make the running service reload its settings, and report what changed',
    load: async () => (await import('./reload.ts')).reloadCommand,
  },
  rebuild: {
    summary:
      '`rebuild <projection>|all` rebuilds statistics from the event log; several processes share the work',
    usage: 'rebuild <projection>|all',
    maxWords: 1,
    load: async () => (await import('./rebuild.ts')).rebuild,
  },
  backup: {
    summary: 'back up a running or stopped service to a location; copies only new media',
    usage: 'backup [<folder>|s3://<bucket>/<prefix>] [--include-key]',
    maxWords: 1,
    load: async () => (await import('./backup/backup.ts')).backup,
  },
  backups: {
    summary: 'list the backups at a location and the points in time that can be restored',
    usage: 'backups [<folder>|s3://<bucket>/<prefix>]',
    maxWords: 1,
    load: async () => (await import('./backup/backups.ts')).backupsCommand,
  },
  verify: {
    summary: 'verify a backup; by default the newest',
    usage: 'verify [<folder>|s3://<bucket>/<prefix>] [--backup <id>]',
    maxWords: 1,
    load: async () => (await import('./backup/verify.ts')).verify,
  },
  restore: {
    summary: 'restore a backup into an empty data directory and database',
    usage:
      'restore [<folder>|s3://<bucket>/<prefix>] [--backup <id> | --to <time>] [--erasures <file>]',
    maxWords: 1,
    load: async () => (await import('./backup/restore.ts')).restore,
  },
  erasures: {
    summary:
      '`erasures export <file>` writes hashes of the erased viewers to a file, for `restore`',
    usage: 'erasures export <file>',
    maxWords: 2,
    load: async () => (await import('./erasures.ts')).erasuresCommand,
  },
  psql: {
    summary:
      'open a psql session; `psql connection` prints the connection settings for other tools',
    usage: ['psql [--execute <statement>]', 'psql connection [--json]'],
    maxWords: 1,
    load: async () => (await import('./psql.ts')).psqlCommand,
  },
  'upgrade-database': {
    summary: "upgrade the embedded database to this release's major version of PostgreSQL",
    usage: ['upgrade-database [--old-binaries <folder>]', 'upgrade-database --remove-old'],
    load: async () => (await import('./upgrade-database.ts')).upgradeDatabaseCommand,
  },
  docs: {
    summary: 'update the generated parts of the documentation',
    load: async () => (await import('./docs.ts')).docs,
  },
};

function help(): string {
  const names = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(18)}${summary}`,
  );
  return [
    'Usage: reelfeed <command> [options]',
    '',
    ...names,
    '',
    'Run `reelfeed help <command>` for the usage of a command and `reelfeed --version` for the version.',
    'Options: --json prints machine-readable output; --org <id> selects the organization.',
    'Settings are read from the environment; the README lists them.',
    '',
  ].join('\n');
}

/** The help text of one command. */
function helpOf(name: string, { summary, usage = name }: Entry): string {
  const calls = [usage].flat().map((call) => `reelfeed ${call}`);
  return [`Usage: ${calls.join('\n       ')}`, '', `  ${summary}`, ''].join('\n');
}

async function main(): Promise<void> {
  const [name, ...rest] = process.argv.slice(2);
  if (name === '--version' || name === '-v' || name === 'version') {
    process.stdout.write(`reelfeed ${version}\n`);
    return;
  }
  const asked = name === 'help' ? rest[0] : name;
  const command = Object.hasOwn(commands, asked ?? '') ? commands[asked ?? ''] : undefined;
  if (name === undefined || name === 'help' || [name, ...rest].some(isHelpOption)) {
    process.stdout.write(command === undefined ? help() : helpOf(asked ?? '', command));
    return;
  }
  if (command === undefined) throw new UsageError(`Unknown command "${name}".\n\n${help()}`);
  const run = await command.load();
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      org: { type: 'string' },
      type: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      forward: { type: 'string' },
      events: { type: 'string' },
      wait: { type: 'boolean', default: false },
      since: { type: 'string' },
      until: { type: 'string' },
      for: { type: 'string' },
      srt: { type: 'boolean' },
      'include-key': { type: 'boolean', default: false },
      erasures: { type: 'string' },
      backup: { type: 'string' },
      execute: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      format: { type: 'string' },
      compression: { type: 'string' },
      filter: { type: 'string', multiple: true },
      out: { type: 'string' },
      fix: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      'old-binaries': { type: 'string' },
      'remove-old': { type: 'boolean' },
    },
  });
  const unexpected = positionals[command.maxWords ?? 0];
  if (unexpected !== undefined) {
    throw new UsageError(`\`reelfeed ${name}\` does not accept "${unexpected}".\n\n${help()}`);
  }
  await run({
    ...values,
    env: process.env,
    positionals,
    includeKey: values['include-key'],
    dryRun: values['dry-run'],
    oldBinaries: values['old-binaries'],
    removeOld: values['remove-old'],
  });
}

function isHelpOption(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

/**
 * Returns whether the error concerns the command line: our usage errors and those of the option
 * parser.
 */
function isUsageError(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code?.startsWith('ERR_PARSE_ARGS_') ?? false;
}

try {
  await main();
} catch (error) {
  if (isUsageError(error)) {
    process.stderr.write(`${(error as Error).message.trimEnd()}\n`);
    process.exitCode = 2;
  } else {
    (await import('../app/run.ts')).reportFailure(error);
  }
}
