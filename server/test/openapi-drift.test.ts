/** Proves that the committed API description and the client's types match the service. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import { descriptionFile, descriptionText, typesFile, typesOf } from '../../client/generate.ts';
import { startService } from './service.ts';

test('docs/openapi.json matches the service; fix it by `npm run docs`', async () => {
  const service = await startService();
  const { body } = await service.call('GET', '/openapi.json', { key: null });
  assert.equal(descriptionText(body), await readFile(descriptionFile, 'utf8'));
});

test('the types of the client match docs/openapi.json; fix them by `npm run docs`', async () => {
  assert.equal(await typesOf(descriptionFile), await readFile(typesFile, 'utf8'));
});

/** Ids have prefixes, so none equals `cancel`, and no export is called `schedules`. */
const isUnambiguous = /`\/v1\/exports\/\{id\}\/cancel` and `\/v1\/exports\/\w+\/\{id\}`/;

test('Redocly has no recommendations for docs/openapi.json', async () => {
  const problems = await lint({
    ref: fileURLToPath(descriptionFile),
    config: await createConfig({ extends: ['recommended'] }),
  });
  assert.deepEqual(
    problems
      .map(({ ruleId, message, location }) => [ruleId, location[0]?.pointer, message])
      .filter(([, , message]) => !isUnambiguous.test(message ?? '')),
    [],
  );
});
