/** Proves that the committed API description and the client's types are those of the service. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { descriptionFile, descriptionText, typesFile, typesOf } from '../../client/generate.ts';
import { startService } from './service.ts';

test('docs/openapi.json is what the service answers; mend it by `npm run docs`', async () => {
  const service = await startService();
  const { body } = await service.call('GET', '/openapi.json', { key: null });
  assert.equal(descriptionText(body), await readFile(descriptionFile, 'utf8'));
});

test('the types of the client are made from docs/openapi.json; mend them by `npm run docs`', async () => {
  assert.equal(await typesOf(descriptionFile), await readFile(typesFile, 'utf8'));
});
