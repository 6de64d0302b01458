import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { ServerLog } from './server-log.ts';
import { until } from '../../../test/waiting.ts';

function record(): { serverLog: ServerLog; lines: () => { level: string; msg: string }[] } {
  const written: string[] = [];
  const formatters = { level: (label: string) => ({ level: label }) };
  const log = pino({ level: 'trace', formatters }, { write: (line) => written.push(line) });
  return { serverLog: new ServerLog(log), lines: () => written.map((line) => JSON.parse(line)) };
}

describe('the server log', () => {
  it('raises only what needs action, and keeps details with their message', () => {
    const { serverLog, lines } = record();
    serverLog.write(
      [
        'postmaster[1] 00000 LOG:  database system is ready to accept connections',
        'client backend[2] 23505 ERROR:  duplicate key value',
        'client backend[2] 23505 DETAIL:  Key (id)=(1) already exists.',
        'client backend[3] 53100 ERROR:  could not extend file: No space left on device',
        'client backend[3] 53100 HINT:  Check free disk space.',
        'checkpointer[4] 58030 PANIC:  could not fsync file',
        'client backend[5] 57P01 FATAL:  terminating connection due to administrator command',
        'client backend[6] 28P01 FATAL:  password authentication failed',
        'postmaster[1] 00000 LOG:  server process (PID 9) was terminated by signal 9: Killed',
        'no message of the server',
        '',
      ].join('\n'),
    );
    const levels = lines().map(({ level }) => level);
    assert.deepEqual(levels, [
      'debug',
      'debug',
      'debug',
      'error',
      'error',
      'error',
      'debug',
      'warn',
      'warn',
      'warn',
    ]);
  });

  it('logs a message of several lines as one', async () => {
    const { serverLog, lines } = record();
    serverLog.write('backend[2] 42601 ERROR:  wrong:\n\tselect 1\n');
    serverLog.write('\tfrom x\nbackend[2] 42601 DETAIL:  more\n');
    await until('both lines', lines, ({ length }) => length >= 2);
    assert.deepEqual(
      lines().map(({ msg }) => msg),
      ['wrong:\nselect 1\nfrom x', 'more'],
    );
  });

  it('joins pieces into lines, and bounds lines and tail', () => {
    const { serverLog, lines } = record();
    serverLog.write('postmaster[1] 00000 LOG:  sta');
    serverLog.write('rting\nno prefix here\n');
    assert.deepEqual(
      lines().map(({ msg }) => msg),
      ['starting', 'no prefix here'],
    );
    for (let line = 0; line < 100; line++) serverLog.write(`${'x'.repeat(5_000)} ${line}\n`);
    assert.equal(serverLog.tail.split('\n').length, 25);
    assert.ok(serverLog.tail.length <= 25 * 2_001);
  });
});
