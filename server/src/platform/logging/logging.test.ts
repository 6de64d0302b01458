/** Tests what log lines contain, and what they never contain. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLogger, LogLevel } from './logging.ts';

function capture(level = 'debug') {
  const lines: string[] = [];
  const log = createLogger(level, { write: (line: string) => void lines.push(line) });
  // oxlint-disable-next-line typescript/no-explicit-any -- lines have every shape
  const last = (): any => JSON.parse(lines.at(-1) ?? 'null');
  return { log, lines, last };
}

test('a line is one JSON object with level, UTC time and message', () => {
  const { log, lines, last } = capture();
  log.info({ jobId: 7 }, 'two\nlines');
  assert.equal(lines.length, 1);
  assert.equal((lines[0] ?? '').indexOf('\n'), (lines[0] ?? '').length - 1);
  const { level, time, msg, jobId, ...rest } = last();
  assert.deepEqual(
    { level, msg, jobId, rest },
    { level: 'info', msg: 'two\nlines', jobId: 7, rest: {} },
  );
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a changed level applies to existing child loggers', () => {
  const level = new LogLevel('warn');
  const lines: string[] = [];
  const log = createLogger(level, { write: (line: string) => void lines.push(line) });
  const child = log.child({ component: 'x' });
  child.info('no');
  level.current = 'info';
  child.info('yes');
  level.current = 'silent';
  child.fatal('no');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['yes'],
  );
});

test('lines below the level are not written, and silent writes none', () => {
  const { log, lines } = capture('warn');
  log.info('no');
  log.warn('yes');
  assert.equal(lines.length, 1);
  const silent = capture('silent');
  silent.log.fatal('no');
  assert.equal(silent.lines.length, 0);
});

test('keys, tokens and passwords are redacted at the top, one level below, and in children', () => {
  const { log, lines } = capture();
  const secret = 'rf_sk_hunter2';
  for (const name of ['authorization', 'key', 'token', 'secret', 'password', 'connectionString']) {
    log.info({ [name]: secret }, 'top');
    log.info({ request: { [name]: secret, id: 1 } }, 'below');
    log.child({ [name]: secret }).info('child');
  }
  log.info({ headers: { authorization: secret } }, 'top');
  log.info({ request: { headers: { cookie: secret } } }, 'below');
  assert.equal(lines.length, 20);
  for (const line of lines) {
    assert.ok(!line.includes(secret), line);
    assert.ok(line.includes('[redacted]'), line);
  }
});

test('an error is written with type, message, stack, code and cause', () => {
  const { log, last } = capture();
  const cause = Object.assign(new TypeError('inner'), { code: 'EINNER' });
  log.error({ err: new Error('outer', { cause }) }, 'failed');
  const { err } = last();
  assert.equal(err.type, 'Error');
  assert.equal(err.message, 'outer');
  assert.match(err.stack, /logging\.test/);
  assert.deepEqual(
    { ...err.cause, stack: '' },
    { type: 'TypeError', message: 'inner', stack: '', code: 'EINNER' },
  );
});

test('properties that a library attached to an error stay out of the log', () => {
  const { log, lines, last } = capture();
  const client = { connectionParameters: { password: 'hunter2' }, socket: {} };
  const hung = { client, parameters: ['hunter2'], detail: 'Key (hash)=(hunter2) exists.' };
  const error = Object.assign(new Error('broken'), { code: '23505', ...hung });
  const inner = new Error('around', { cause: Object.assign(new Error('in'), hung) });
  log.warn({ err: error }, 'field');
  assert.deepEqual(Object.keys(last().err).toSorted(), ['code', 'message', 'stack', 'type']);
  log.warn(error, 'argument');
  assert.deepEqual(Object.keys(last().err).toSorted(), ['code', 'message', 'stack', 'type']);
  log.warn({ err: inner }, 'cause');
  log.warn({ err: new AggregateError([error, inner], 'both') }, 'aggregate');
  assert.doesNotMatch(lines.join(''), /hunter2/);
});

test('an error that names itself as its cause, and one that is not an error, are written', () => {
  const { log, last } = capture();
  const circle = new Error('circle');
  circle.cause = new Error('and back', { cause: circle });
  log.error({ err: circle }, 'failed');
  assert.equal(last().err.cause.message, 'and back');
  for (const thrown of ['text', 7, null]) {
    log.error({ err: thrown }, 'thrown');
    assert.equal(last().err, thrown);
  }
});

test('a failed connection to several addresses says why each failed', async () => {
  const { log, last } = capture();
  const lookup = (_host: string, _options: unknown, done: (...found: unknown[]) => void) =>
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
  const socket = connect({ host: 'both', port: 1, lookup: lookup as never });
  const [error] = (await once(socket, 'error').catch((failure: unknown) => [failure])) as [unknown];
  log.warn({ err: error }, 'failed');
  const { err } = last();
  assert.equal(err.type, 'AggregateError');
  assert.deepEqual(
    err.errors.map((one: { code: string }) => one.code),
    ['ECONNREFUSED', 'ECONNREFUSED'],
  );
});

test('lines that nobody reads take little memory: what is dropped is counted', async () => {
  const script = fileURLToPath(new URL('./flooding-log.fixture.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [memory] = (await once(child.stdout, 'data')) as [Buffer];
  const told = (await text(child.stderr)).trimEnd().split('\n');
  const lines = told.map((line) => JSON.parse(line) as { msg: string; n?: number; lines?: number });
  const flood = lines.filter(({ msg }) => msg === 'flood');
  const dropped = lines.reduce((sum, line) => sum + (line.lines ?? 0), 0);
  // 200,000 lines are 60 MB.
  assert.ok(dropped > 100_000, `${dropped} were dropped`);
  assert.equal(flood.length + dropped, 200_000);
  assert.ok(Number(memory.toString()) < 200 * 1024 * 1024, `${memory.toString()} bytes`);
});
