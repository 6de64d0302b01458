/**
 * A process for tests: a small service that owns a data directory and its database. It prints one
 * line when it is ready, or the reason why it isn't, and stops on SIGTERM or when its parent exits.
 */
import { pino } from 'pino';
import { claimDataDirectory } from '../data-directory/data-directory.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new Error('SIGTERM')));
process.stdin.resume().once('end', () => stop.abort(new Error('The test has ended.')));
try {
  await using dataDir = await claimDataDirectory(process.argv[2] ?? '');
  const log = pino({ level: 'silent' });
  await using postgres = await startEmbeddedPostgres({ dataDir, log, signal: stop.signal });
  console.log(JSON.stringify({ serverPid: postgres.pid, connection: postgres.connection }));
  if (!stop.signal.aborted) {
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
  }
} catch (error) {
  console.log(JSON.stringify({ refused: String(error) }));
}
process.stdin.destroy();
