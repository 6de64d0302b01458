/** Builds `dist` from the guides: `npm run build:site`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { fingerprint, record } from './fingerprint.ts';
import { writePages } from './pages.ts';
import { makeRelative } from './relative.ts';

const folder = fileURLToPath(new URL('./', import.meta.url));

writePages();
await build(folder);
makeRelative(fileURLToPath(new URL('./dist/', import.meta.url)));
writeFileSync(record, `${fingerprint()}\n`);
