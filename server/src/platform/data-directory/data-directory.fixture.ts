/**
 * A process for tests that claims the directory given in its first argument, reports that, and
 * holds it until its parent exits.
 */
import { claimDataDirectory } from './data-directory.ts';

try {
  const directory = await claimDataDirectory(process.argv[2] ?? '');
  console.log(JSON.stringify({ claimed: directory.path }));
  process.stdin.resume().once('end', () => process.exit());
} catch (error) {
  console.log(JSON.stringify({ refused: String(error) }));
}
