/** Tests what each configuration parser accepts and rejects, including edge cases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  base64Bytes,
  bytes,
  choice,
  choices,
  duration,
  httpUrl,
  integer,
  list,
  longestTimer,
  optional,
  postgresUrl,
  retrySchedule,
  text,
  type Parser,
} from './config-values.ts';

function accepts<T>(parser: Parser<T>, cases: readonly (readonly [string, T])[]): void {
  for (const [raw, value] of cases) assert.deepEqual(parser(raw), { value }, JSON.stringify(raw));
}

function refuses(parser: Parser<unknown>, raws: readonly string[], expected: RegExp): void {
  for (const raw of raws) {
    const parsed = parser(raw);
    assert.ok('problem' in parsed, `${JSON.stringify(raw)} gave ${JSON.stringify(parsed)}`);
    assert.match(parsed.problem, expected, raw);
  }
}

test('text is trimmed and must not be blank; optional turns blank into null', () => {
  accepts(text(), [['  a b ', 'a b']]);
  refuses(text(), ['', ' \t'], /a non-empty string/);
  accepts(optional(text()), [
    ['', null],
    ['  ', null],
    [' x ', 'x'],
  ]);
  refuses(optional(integer({ min: 1, max: 2 })), ['3'], /from 1 to 2/);
});

test('a whole number lies within its range and has nothing but digits', () => {
  const port = integer({ min: 0, max: 65_535 });
  accepts(port, [
    ['0', 0],
    ['65535', 65_535],
    [' 4000 ', 4000],
    ['007', 7],
  ]);
  const wrong = ['-1', '65536', '1.5', '1e3', '0x10', '+1', 'abc', '', ' ', '1 2', '٣', 'Infinity'];
  refuses(port, wrong, /a whole number from 0 to 65535/);
  refuses(integer({ min: 0, max: Infinity }), ['9'.repeat(16)], /whole number/);
});

test('a list drops blanks, a choice is exact, choices take several', () => {
  accepts(list(), [
    ['', []],
    [' a, ,b ,', ['a', 'b']],
  ]);
  accepts(choice(['debug', 'info']), [[' info ', 'info']]);
  refuses(choice(['debug', 'info']), ['INFO', '', 'warn', 'debug,info'], /one of debug, info/);
  accepts(choices(['api', 'worker']), [
    ['api', ['api']],
    ['worker , api', ['worker', 'api']],
  ]);
  refuses(
    choices(['api', 'worker']),
    ['', 'api,', 'api,web', 'API'],
    /comma-separated list of api, worker/,
  );
});

test('an http URL has neither query nor user, and ends without a slash', () => {
  accepts(httpUrl(), [
    ['https://feed.example.com', 'https://feed.example.com'],
    ['https://feed.example.com//', 'https://feed.example.com'],
    ['http://localhost:4000/base/', 'http://localhost:4000/base'],
    ['HTTP://Example.COM', 'http://example.com'],
  ]);
  const wrong = [
    'feed.example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'https://example.com?a=1',
    'https://example.com/?',
    'https://example.com/#',
    'https://user@example.com',
    'https://:secret@example.com',
    'https://',
    '',
  ];
  refuses(httpUrl(), wrong, /an http or https URL without a query/);
});

test('a database URL must have the scheme of one', () => {
  const socket = 'postgresql://user:p%40ss@localhost:5432/db?host=/run/pg';
  accepts(postgresUrl(), [
    [' postgres://host/db ', 'postgres://host/db'],
    [socket, socket],
  ]);
  refuses(postgresUrl(), ['db', 'localhost:5432/db', 'mysql://host/db', ''], /postgres:\/\/user/);
});

test('a key is exactly so many bytes in base64, in either alphabet', () => {
  const key = Buffer.alloc(32, 0xfb);
  for (const form of ['base64', 'base64url'] as const) {
    accepts(base64Bytes(32), [[` ${key.toString(form)}\n`, key.toString(form)]]);
  }
  const wrong = [
    '',
    'secret',
    key.toString('hex'),
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    `${Buffer.alloc(31).toString('base64')}!!`,
    `!${key.toString('base64')}`,
  ];
  refuses(base64Bytes(32), wrong, /32 bytes in base64/);
});

test('byte sizes have units of 1,024 and stay exact', () => {
  accepts(bytes(), [
    ['0', 0],
    ['1', 1],
    ['1kb', 1024],
    ['500 MB', 500 * 2 ** 20],
    ['5GB', 5 * 2 ** 30],
    ['8191TB', 8191 * 2 ** 40],
  ]);
  const wrong = ['', '-1', '1.5GB', '1K', '1B', 'GB', '1GBs', '1e3'];
  refuses(bytes(), wrong, /bytes, such as 500MB/);
  refuses(bytes(), ['8192TB'], /fewer bytes/);
});

test('a duration needs its unit and lies within its bounds, which are allowed', () => {
  accepts(duration(), [
    ['0s', 0],
    ['500ms', 500],
    ['30 s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['3650d', 3_650 * 86_400_000],
  ]);
  const wrong = [
    '',
    '30',
    '1.5h',
    '-1s',
    '1w',
    '5 minutes',
    '1h30m',
    '3651d',
    '9'.repeat(10) + 's',
  ];
  refuses(duration(), wrong, /a duration from 0s to 3650d with a unit/);
  accepts(duration({ min: '1s', max: '1m' }), [
    ['1000ms', 1_000],
    ['60s', 60_000],
  ]);
  refuses(duration({ min: '1s', max: '1m' }), ['999ms', '61s'], /a duration from 1s to 1m/);
});

test('every duration gives a valid date, and the longest timer fits a Node timer', () => {
  const most = duration()('3650d');
  assert.ok('value' in most);
  assert.ok(!Number.isNaN(new Date(Date.now() + most.value).getTime()));
  const timer = duration()(longestTimer);
  assert.ok('value' in timer && timer.value < 2 ** 31);
});

test('a retry schedule starts at once and has 1 to 20 delays', () => {
  accepts(retrySchedule(), [
    ['0s', [0]],
    ['0s, 1m ,24h', [0, 60_000, 86_400_000]],
    [['0s', ...Array.from({ length: 19 }, () => '1s')].join(), [0, ...Array(19).fill(1_000)]],
  ]);
  const tooMany = ['0s', ...Array.from({ length: 20 }, () => '1s')].join();
  refuses(retrySchedule(), ['', '1m', '0s,', '0s,1', '1s,0s', tooMany], /1 to 20 delays/);
});
