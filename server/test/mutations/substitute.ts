/** Loaded before a test: gives one module another text, in this process and those that it starts. */
import { registerHooks } from 'node:module';
import process from 'node:process';

const mutant = JSON.parse(process.env['REELFEED_TEST_MUTANT'] ?? '{}') as {
  url?: string;
  start: number;
  end: number;
  text: string;
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== mutant.url || loaded.source === undefined || loaded.source === null) return loaded;
    const source = loaded.source.toString();
    return {
      ...loaded,
      source: source.slice(0, mutant.start) + mutant.text + source.slice(mutant.end),
    };
  },
});
