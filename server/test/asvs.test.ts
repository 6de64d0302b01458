/** Proves that the sheet of security requirements is complete and that the tests it names exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('../', import.meta.url));
const sheet = readFileSync(`${server}../docs/asvs.md`, 'utf8');
const rows = [...sheet.matchAll(/^\| (\d[\d.–]*) \| ([^|]+) \| ([^|]+) \| (.*) \|$/gm)].map(
  ([, numbers = '', , state = '', how = '']) => ({ numbers, state, how }),
);

/** The last requirement numbers of levels 1 and 2 in version 4.0.3, by section. */
const sections: Readonly<Record<string, string>> = {
  '1.1': '1-7',
  '1.2': '1-4',
  '1.4': '1 4 5',
  '1.5': '1-4',
  '1.6': '1-4',
  '1.7': '1-2',
  '1.8': '1-2',
  '1.9': '1-2',
  '1.10': '1',
  '1.11': '1-2',
  '1.12': '2',
  '1.14': '1-6',
  '2.1': '1-12',
  '2.2': '1-3',
  '2.3': '1-3',
  '2.4': '1-5',
  '2.5': '1-7',
  '2.6': '1-3',
  '2.7': '1-6',
  '2.8': '1-7',
  '2.9': '1-3',
  '2.10': '1-4',
  '3.1': '1',
  '3.2': '1-4',
  '3.3': '1-4',
  '3.4': '1-5',
  '3.5': '1-3',
  '3.7': '1',
  '4.1': '1-3 5',
  '4.2': '1-2',
  '4.3': '1-3',
  '5.1': '1-5',
  '5.2': '1-8',
  '5.3': '1-10',
  '5.4': '1-3',
  '5.5': '1-4',
  '6.1': '1-3',
  '6.2': '1-6',
  '6.3': '1-2',
  '6.4': '1-2',
  '7.1': '1-4',
  '7.2': '1-2',
  '7.3': '1 3 4',
  '7.4': '1-3',
  '8.1': '1-4',
  '8.2': '1-3',
  '8.3': '1-8',
  '9.1': '1-3',
  '9.2': '1-4',
  '10.2': '1-2',
  '10.3': '1-3',
  '11.1': '1-8',
  '12.1': '1-3',
  '12.2': '1',
  '12.3': '1-6',
  '12.4': '1-2',
  '12.5': '1-2',
  '12.6': '1',
  '13.1': '1 3-5',
  '13.2': '1-3 5-6',
  '13.3': '1-2',
  '13.4': '1-2',
  '14.1': '1-4',
  '14.2': '1-6',
  '14.3': '2-3',
  '14.4': '1-7',
  '14.5': '1-4',
};

/** Expands `1 3-5` to 1, 3, 4, 5. */
function expand(list: string): number[] {
  return list.split(' ').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

const expected = Object.entries(sections).flatMap(([section, list]) =>
  expand(list).map((number) => `${section}.${number}`),
);

test('the sheet contains every requirement of levels 1 and 2 once, in order', () => {
  const listed = rows.flatMap(({ numbers }) => {
    const [first = '', last = first] = numbers.split('–');
    const section = first.slice(0, first.lastIndexOf('.'));
    assert.ok(last.startsWith(`${section}.`), numbers);
    const ends = [first, last].map((number) => number.slice(number.lastIndexOf('.') + 1));
    return expand(ends.join('-')).map((number) => `${section}.${number}`);
  });
  assert.deepEqual(listed, expected);
});

test('each row has a state, and unmet requirements say why', () => {
  for (const { numbers, state, how } of rows) {
    assert.ok(['met', 'partly', 'gap', 'yours', 'n/a'].includes(state), `${numbers}: ${state}`);
    const reason = how.replaceAll(/`[^`]+\.(?:test|fixture)\.ts`: “[^”]+”/g, '').trim();
    assert.ok(state === 'met' ? how !== '' : reason !== '', `${numbers} gives no reason`);
  }
});

test('each test that the sheet names exists in its file', () => {
  const named = rows.flatMap(({ how }) => [
    ...how.matchAll(/`([\w./-]+\.(?:test|fixture)\.ts)`: “([^”]+)”/g),
  ]);
  assert.ok(named.length > 120, `${named.length} tests`);
  const missing = named.filter(([, file = '', name = '']) => {
    if (!existsSync(server + file)) return true;
    const source = readFileSync(server + file, 'utf8');
    return ![`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => source.includes(quoted));
  });
  assert.deepEqual(
    missing.map(([all]) => all),
    [],
  );
});
