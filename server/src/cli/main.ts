/** The command `reelfeed`. */
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { UsageError, type Command } from './command.ts';

// Most of the time of a command goes into parsing; later calls skip it.
enableCompileCache();

type Entry = {
  summary: string;
  /** Words behind the command's name; none unless it says so. */
  mostWords?: number;
  /** Loaded when it is asked for, so that `reelfeed help` does not wait for the whole service. */
  load: () => Promise<Command>;
};

const commands: Record<string, Entry> = {
  start: {
    summary: 'start the service in the foreground',
    load: async () => (await import('./start.ts')).start,
  },
  demo: {
    summary: 'start the service with sample videos and viewers, in a data directory of its own',
    load: async () => (await import('./demo/demo.ts')).demo,
  },
  migrate: {
    summary: 'bring the database up to this version; `migrate status` only looks',
    mostWords: 1,
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  org: {
    summary: '`org create <name>` makes an organization with its keys, `org list` shows all',
    mostWords: Infinity,
    load: async () => (await import('./organizations.ts')).organizationsCommand,
  },
  keys: {
    summary:
      '`keys create --type secret|publishable --name <name>`, `list`, `revoke <id>`, `generate`',
    mostWords: 2,
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  doctor: {
    summary: 'tell what is wrong with this installation and how to mend it',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  rebuild: {
    summary: '`rebuild <projection>|all` makes statistics anew from the event log',
    mostWords: 1,
    load: async () => (await import('./rebuild.ts')).rebuild,
  },
  docs: {
    summary: 'write the generated parts of the documentation',
    load: async () => (await import('./docs.ts')).docs,
  },
};

function help(): string {
  const names = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(10)}${summary}`,
  );
  return [
    'Usage: reelfeed <command> [options]',
    '',
    ...names,
    '',
    'Options: --json prints machine-readable output, --org <id> chooses the organization.',
    'Settings come from the environment; the README lists them.',
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const [name, ...rest] = process.argv.slice(2);
  if (name === undefined || name === 'help' || [name, ...rest].some(isHelpOption)) {
    process.stdout.write(help());
    return;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`There is no command "${name}".\n\n${help()}`);
  const run = await command.load();
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      org: { type: 'string' },
      type: { type: 'string' },
      name: { type: 'string' },
    },
  });
  const unexpected = positionals[command.mostWords ?? 0];
  if (unexpected !== undefined) {
    throw new UsageError(`\`reelfeed ${name}\` does not take "${unexpected}".\n\n${help()}`);
  }
  await run({ env: process.env, positionals, ...values });
}

function isHelpOption(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

/** What was typed is at fault: our own usage errors, and those of the parser of options. */
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
    (await import('../run.ts')).reportFailure(error);
  }
}
