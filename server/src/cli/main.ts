/** The command `reelfeed`. */
import { parseArgs } from 'node:util';
import { UsageError, type Command } from './command.ts';

const { ConfigurationError } = await import('../platform/config.ts');

/** Loaded when it is asked for, so that `reelfeed help` does not wait for the whole service. */
const commands: Record<string, { summary: string; load: () => Promise<Command> }> = {
  start: {
    summary: 'start the service in the foreground',
    load: async () => (await import('./start.ts')).start,
  },
  demo: {
    summary: 'start the service with sample videos, in a data directory of its own',
    load: async () => (await import('./demo.ts')).demo,
  },
  migrate: {
    summary: 'bring the database up to this version; `migrate status` only looks',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  org: {
    summary: '`org create <name>` makes an organization with its keys, `org list` shows all',
    load: async () => (await import('./organizations.ts')).organizationsCommand,
  },
  keys: {
    summary:
      '`keys create --type secret|publishable --name <name>`, `list`, `revoke <id>`, `generate`',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  doctor: {
    summary: 'tell what is wrong with this installation and how to mend it',
    load: async () => (await import('./doctor.ts')).doctor,
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
  const command = commands[name ?? ''];
  if (command === undefined) {
    const wantsHelp = name === undefined || name === 'help' || name === '--help';
    (wantsHelp ? process.stdout : process.stderr).write(
      wantsHelp ? help() : `There is no command "${name}".\n\n${help()}`,
    );
    process.exitCode = wantsHelp ? 0 : 2;
    return;
  }
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
  await run({ env: process.env, positionals, ...values });
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
  if (isUsage || error instanceof ConfigurationError) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
  } else {
    (await import('../run.ts')).reportFailure(error);
  }
}
