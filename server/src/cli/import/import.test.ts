/** Tests `reelfeed import` as a process against a real service: folders, lists, a kill, errors. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { mediaSample } from '../../../test/media-samples.ts';
import { runCommand, startCommand } from '../../../test/processes.ts';
import { query } from '../../../test/seed.ts';
import { eventually, startService, temporaryFolder } from '../../../test/service.ts';

// Nothing is processed here: the test only checks that bytes and rows arrive.
const service = await startService({ REELFEED_ROLES: 'api' });
const env = { REELFEED_PUBLIC_URL: service.url, REELFEED_SECRET_KEY: service.secretKey };
const folder = await temporaryFolder();
const clip = await mediaSample('faststart.mp4');

const importing = (...args: string[]) => runCommand(['import', ...args, '--json'], { env });

/** Writes a clip padded with `megabytes` of zeros in an MP4 `free` box. */
async function writeLargeClip(file: string, megabytes: number): Promise<void> {
  const size = megabytes * 1_000_000;
  const box = Buffer.alloc(size);
  box.writeUInt32BE(size, 0);
  box.write('free', 4, 'latin1');
  await copyFile(clip, file);
  await writeFile(file, box, { flag: 'a' });
}

async function arrived(): Promise<Record<string, unknown>[]> {
  return query(
    service,
    'select title, external_id, source_key is not null as has_bytes from content order by title',
  );
}

test('a folder whose import crashed and is repeated is imported once, each file complete', async () => {
  const videos = path.join(folder, 'videos');
  await mkdir(path.join(videos, 'more'), { recursive: true });
  await copyFile(clip, path.join(videos, 'first.mp4'));
  await copyFile(clip, path.join(videos, 'more', 'second.mp4'));
  await writeLargeClip(path.join(videos, 'third.mp4'), 60);
  await writeFile(path.join(videos, 'notes.txt'), 'no video');
  await writeFile(path.join(videos, '.hidden.mp4'), 'no video');
  const killed = startCommand(['import', videos], { env });
  await eventually('a part of an upload to be stored', async () => {
    const open = await query(
      service,
      `select 1 from upload_session where parts <> '[]' and completed_at is null`,
    );
    return open.length > 0 ? true : null;
  });
  killed.child.kill('SIGKILL');
  assert.equal((await killed.ended).signal, 'SIGKILL');
  const [before] = await query(service, 'select count(*)::int as items from content');
  assert.ok(Number(before?.['items']) > 0);

  const again = await importing(videos);
  assert.equal(again.code, 0, again.stderr);
  const { created, existing, failed } = JSON.parse(again.stdout);
  assert.deepEqual([created + existing, failed], [3, 0]);
  const items = await arrived();
  assert.deepEqual(
    items.map(({ title, has_bytes: hasBytes }) => [title, hasBytes]),
    [
      ['first', true],
      ['second', true],
      ['third', true],
    ],
  );
  assert.match(String(items[1]?.['external_id']), /^file:more\/second\.mp4:\d+$/);
  const third = await importing(videos);
  assert.equal(third.code, 0, third.stderr);
  assert.equal((await arrived()).length, 3, 'nothing comes in twice');
});

test('a list reports what is wrong with which row, and imports the others', async () => {
  const list = path.join(folder, 'list.csv');
  await copyFile(clip, path.join(folder, 'listed.mp4'));
  await writeFile(
    list,
    [
      'file,sourceUrl,title,tags,protected,customMetadata,externalId,visibility',
      'listed.mp4,,"Listed, first",a; b,true,"{""k"": 1}",row-1,unlisted',
      ',https://127.0.0.1/a.mp4,Inner host,,,,row-2,',
      'missing.mp4,,Missing,,,,row-3,',
      'listed.mp4,,Wrong flag,,yes,,row-4,',
      'listed.mp4,https://example.com/a.mp4,Both,,,,row-5,',
      'listed.mp4,,Wrong visibility,,,,row-6,secret',
      'listed.mp4,,Too few',
      ',https://203.0.113.77/named%20clip.mp4,,,,,,',
      '',
    ].join('\n'),
  );
  const { code, stdout, stderr } = await importing(list);
  assert.equal(code, 1, stderr);
  const { results } = JSON.parse(stdout);
  const problems = [
    null,
    /public|address/,
    /missing\.mp4 cannot be read/,
    /protected: must be true or false/,
    /requires either file or sourceUrl/,
    /visibility/,
    /has 3 cells, but the header has 8/,
    /public|address/,
  ];
  assert.equal(results.length, problems.length);
  for (const [index, problem] of problems.entries()) {
    const { place, status, problem: said } = results[index];
    assert.equal(place, `row ${index + 2}`);
    assert.equal(status, problem === null ? 'created' : 'failed', JSON.stringify(results[index]));
    if (problem !== null) {
      assert.match(said, problem);
      assert.match(stderr, new RegExp(`^row ${index + 2}: `, 'm'));
    }
  }
  const { body } = await service.call('GET', '/v1/content?externalId=row-1');
  const [item] = body.data;
  assert.equal(body.meta.total, 1);
  assert.equal(item.title, 'Listed, first');
  assert.deepEqual(item.tags, ['a', 'b']);
  assert.deepEqual([item.protected, item.visibility], [true, 'unlisted']);
  assert.deepEqual(item.customMetadata, { k: 1 });
});

test('lines of JSON are a list as well; an item whose bytes never came is replaced', async () => {
  const list = path.join(folder, 'list.ndjson');
  await writeFile(list, '{"file":"listed.mp4","externalId":"again"}\n{broken\n');
  const first = await importing(list);
  assert.match(first.stderr, /^line 2: is not a JSON object$/m);
  const findId = async () => {
    const { body } = await service.call('GET', '/v1/content?externalId=again');
    assert.equal(body.data.length, 1);
    return body.data[0].id;
  };
  const firstId = await findId();
  // Simulates an interrupted upload whose URL has expired.
  await query(
    service,
    `update content set upload_status = 'error', source_key = null,
       error_code = 'SOURCE_UNREACHABLE', error_message = 'expired' where content_id = $1`,
    [firstId],
  );
  const second = await importing(list);
  assert.equal(JSON.parse(second.stdout).created, 1, second.stdout);
  const secondId = await findId();
  assert.notEqual(secondId, firstId);
  const [row] = await query(service, 'select source_key from content where content_id = $1', [
    secondId,
  ]);
  assert.ok(row?.['source_key']);
});

test('a row whose bytes are rejected leaves no item; a repeat reports what already existed', async () => {
  await writeFile(path.join(folder, 'bad.mp4'), `<!doctype html>${'x'.repeat(9_000)}`);
  const mixed = path.join(folder, 'mixed.ndjson');
  await writeFile(
    mixed,
    '{"file":"listed.mp4","externalId":"good","title":"good"}\n' +
      '{"file":"bad.mp4","externalId":"bad","title":"bad"}\n',
  );
  const first = JSON.parse((await importing(mixed)).stdout);
  assert.deepEqual([first.created, first.existing, first.failed], [1, 0, 1]);
  const titles = async () => {
    const rows = await arrived();
    return rows.map(({ title }) => title).filter((title) => title === 'good' || title === 'bad');
  };
  assert.deepEqual(await titles(), ['good']);
  // The bytes have arrived, though they are not processed.
  const again = JSON.parse((await importing(mixed)).stdout);
  assert.deepEqual([again.created, again.existing, again.failed], [0, 1, 1]);
  assert.deepEqual(await titles(), ['good']);
});

test('what concerns the whole run ends it with one sentence', async () => {
  const videos = path.join(folder, 'listed.mp4');
  const empty = path.join(folder, 'empty');
  await mkdir(empty);
  await writeFile(path.join(folder, 'unknown.csv'), 'file,titel\na,b\n');
  const attempts: [RegExp, string, Record<string, string>][] = [
    [/neither a folder nor/, videos, env],
    [/nowhere does not exist/, path.join(folder, 'nowhere'), env],
    [/no video or audio file/, empty, env],
    [/Unknown columns: titel/, path.join(folder, 'unknown.csv'), env],
    [/REELFEED_SECRET_KEY is not set/, folder, { REELFEED_PUBLIC_URL: service.url }],
    [/cannot be reached/, folder, { ...env, REELFEED_PUBLIC_URL: 'http://127.0.0.1:1' }],
    [/key/i, folder, { ...env, REELFEED_SECRET_KEY: 'rf_sk_wrong' }],
  ];
  for (const [message, target, given] of attempts) {
    const { code, stderr, stdout } = await runCommand(['import', target], { env: given });
    assert.notEqual(code, 0);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /^\s+at /m, stderr);
    assert.equal(stdout, '');
  }
});
