/** Proves that commands reject wrong arguments with their usage before they touch anything. */
import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/service.ts';
import { UsageError, type Command, type CommandInput } from './command.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { organizationsCommand } from './organizations.ts';

const dataDir = path.join(await temporaryFolder(), 'data');

async function refused(
  command: Command,
  message: RegExp,
  words: string,
  options: Partial<CommandInput> = {},
): Promise<void> {
  const input: CommandInput = {
    env: { REELFEED_DATA_DIR: dataDir },
    positionals: words.split(' ').filter((word) => word !== ''),
    json: false,
    wait: false,
    includeKey: false,
    ...options,
  };
  await assert.rejects(
    async () => command(input),
    (error) => error instanceof UsageError && message.test(error.message),
    `${words} ${JSON.stringify(options)}`,
  );
}

const long = 'x'.repeat(201);

test('migrate, org and keys reject unknown arguments', async () => {
  await refused(migrateCommand, /Usage: reelfeed migrate/, 'down');
  for (const words of ['', 'create', `create ${long}`, 'list x']) {
    await refused(organizationsCommand, /Usage: reelfeed org/, words);
  }
  for (const words of ['', 'constructor', 'list x', 'revoke', 'generate']) {
    await refused(keysCommand, /reelfeed keys list|--type/, words);
  }
});

test('a key is made of a type and a name', async () => {
  const wrong: Partial<CommandInput>[] = [
    { name: 'x' },
    { type: 'admin', name: 'x' },
    { type: 'secret' },
    { type: 'secret', name: long },
  ];
  for (const options of wrong) {
    await refused(keysCommand, /reelfeed keys list/, 'create', options);
  }
  await assert.rejects(access(dataDir), 'nothing was made');
});
