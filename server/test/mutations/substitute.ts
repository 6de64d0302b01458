/** Preloaded before a test: replaces the source of one module, in this process and its children. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const mutant = JSON.parse(process.env['REELFEED_TEST_MUTANT'] ?? '{}') as {
  url?: string;
  start: number;
  end: number;
  text: string;
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== mutant.url) return loaded;
    const source = readFileSync(fileURLToPath(url), 'utf8');
    return {
      ...loaded,
      source: source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end),
    };
  },
});
