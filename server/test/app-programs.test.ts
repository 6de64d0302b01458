/**
 * Proves that the programs in `docs/apps.md` are correct: those in TypeScript and Python run
 * against a service; those in Kotlin and Swift have the fields and types of the API description.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readyItem } from './media.ts';
import { readDescription } from './openapi.ts';
import { eventually, startService } from './service.ts';
import { openStoredEvents } from './stored-events.ts';

const run = promisify(execFile);
const program = (name: string) =>
  fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

const service = await startService();
const stored = await openStoredEvents(service);
const { id } = await readyItem(service, 'small.mp4', {});

/** Runs a program and returns its output. The three events that it sends are stored. */
async function watch(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, {
    timeout: 60_000,
    env: {
      PATH: process.env['PATH'],
      REELFEED: service.url,
      PUBLISHABLE_KEY: service.publishableKey,
    },
  });
  const kinds = new Set<string>();
  await eventually('the events', async () => {
    for (const { event, userId, contentId } of await stored.fresh()) {
      assert.deepEqual([userId, contentId], ['ada', id]);
      kinds.add(event);
    }
    return kinds.size >= 3 ? true : null;
  });
  assert.deepEqual([...kinds].toSorted(), ['impression', 'like', 'playStart']);
  assert.match(stdout, new RegExp(`^${id} .*http\\S+\\.m3u8`));
  return stdout;
}

test('the TypeScript program reads the feed and sends events', async () => {
  await watch(process.execPath, ['--disable-warning=ExperimentalWarning', program('feed.ts')]);
});

test('the Python program reads the feed and sends events', async (t) => {
  const found = await run('python3', ['--version']).catch(() => null);
  if (found === null) return t.skip('there is no python3');
  assert.match(await watch('python3', [program('feed.py')]), /'received': 3, 'failed': 0/);
});

type Schema = {
  type?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
};

type Field = { name: string; type: string; isOptional: boolean };

/** The fields of each class or struct of a program, by name. */
function typesOf(text: string): Map<string, Field[]> {
  const types = new Map<string, Field[]>();
  for (const [, name = '', body = ''] of text.matchAll(
    /(?:data class|struct) (\w+)(?:\(|: \w+ \{ )(.*)[)}]$/gm,
  )) {
    const fields = body.matchAll(/(?:val|let|var) (\w+): ([\w<>[\]]+)(\?)?/g);
    types.set(
      name,
      [...fields].map(([, field = '', type = '', optional]) => {
        return { name: field, type, isOptional: optional !== undefined };
      }),
    );
  }
  return types;
}

/** Translates the schema's types to the programs' notation. */
function typeIn(schema: Schema): { name: string | undefined; isNullable: boolean } {
  const all = schema.anyOf ?? [schema];
  const names: Record<string, string> = { string: 'String', integer: 'Int' };
  const [name] = all.flatMap(({ type = '' }) => names[type] ?? []);
  return { name, isNullable: all.some(({ type }) => type === 'null') };
}

for (const file of ['Feed.kt', 'Feed.swift']) {
  test(`${file} reads and sends the fields that the API describes`, async () => {
    const { paths } = await readDescription(service.url);
    const page: Schema = paths['/v1/feed'].get.responses['200'].content['application/json'].schema;
    const batch: Schema =
      paths['/v1/events/batch'].post.requestBody.content['application/json'].schema;
    const types = typesOf(readFileSync(program(file), 'utf8'));
    const fieldsOf = (name: string): Field[] => types.get(name) ?? [];
    const names = (name: string) => fieldsOf(name).map((field) => field.name);

    assert.deepEqual(names('FeedPage'), ['data']);
    const item = page.properties?.['data']?.items;
    assert.ok(fieldsOf('FeedItem').length >= 3);
    for (const { name, type, isOptional } of fieldsOf('FeedItem')) {
      const described = item?.properties?.[name];
      assert.ok(described !== undefined, `an item has no ${name}`);
      const { name: expected, isNullable } = typeIn(described);
      assert.equal(type, expected, name);
      const mayBeMissing = isNullable || item?.required?.includes(name) !== true;
      assert.ok(isOptional || !mayBeMissing, `${name} may be null`);
    }

    assert.deepEqual(names('Batch'), ['events']);
    const event = batch.properties?.['events']?.items;
    for (const { name, type } of fieldsOf('Event')) {
      const described = event?.properties?.[name];
      assert.ok(described !== undefined, `an event has no ${name}`);
      if (name !== 'data') assert.equal(type, typeIn(described).name, name);
    }
    for (const name of event?.required ?? []) assert.ok(names('Event').includes(name), name);
    const kinds = event?.properties?.['data']?.description ?? '';
    assert.deepEqual(names('EventData'), ['position', 'startupTime']);
    for (const name of names('EventData')) assert.match(kinds, new RegExp(`\`${name}\``));
  });
}
