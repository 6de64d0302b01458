/**
 * A test process: a sender on the database whose connection is the first argument. It may access
 * loopback and disables webhooks after five days of failures. The second argument is the vault's
 * key in base64, the third the offset of its wall clock in milliseconds; SIGUSR2 sets the clock
 * back by an hour. Prints "sending", and ends when its parent ends.
 */
import { pino } from 'pino';
import { openDatabase, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { parseAllowList } from '../../src/platform/egress/allow-list.ts';
import { createEgress } from '../../src/platform/egress/egress.ts';
import { createVault } from '../../src/platform/secrets/vault.ts';
import { startDeliverySender } from '../../src/features/webhooks/sending/sender.ts';

const [connectionJson = '', key = '', clockOffsetMs = '0'] = process.argv.slice(2);
const connection = JSON.parse(connectionJson) as DatabaseConnection;
const log = pino({ level: 'silent' });
const { db } = openDatabase({ connection, poolSize: 4, log });
const trueNow = Date.now.bind(Date);
let offsetMs = Number(clockOffsetMs);
process.on('SIGUSR2', () => (offsetMs -= 3_600_000));
const now = () => trueNow() + offsetMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});

const sender = startDeliverySender({
  db,
  log,
  egress: createEgress({ allow: parseAllowList(['127.0.0.0/8']) }),
  vault: createVault(Buffer.from(key, 'base64')),
  scheduleMs: [0, 1_000],
  concurrency: 64,
  disableAfterMs: 5 * 86_400_000,
  timing: { pollEveryMs: 50, beatEveryMs: 200, deadAfterMs: 1_500 },
});
process.stdin.resume().once('end', () => process.exit());
process.once('SIGTERM', () => void sender[Symbol.asyncDispose]().then(() => process.exit()));
console.log('sending');
