/**
 * A process for tests: claims the directory of its first argument, says so, and holds on to it
 * until its parent ends.
 */
import { claimDataDirectory } from './data-directory.ts';

try {
  const directory = await claimDataDirectory(process.argv[2] ?? '');
  console.log(JSON.stringify({ claimed: directory.path }));
  process.stdin.resume().once('end', () => process.exit());
} catch (error) {
  console.log(JSON.stringify({ refused: String(error) }));
}
