import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowLineBps } from './slow-line.ts';

test('a slow line, or one to be saved, begins with small renditions; any other as the service says', () => {
  assert.equal(slowLineBps({}), null);
  assert.equal(slowLineBps({ connection: {} }), null);
  assert.equal(slowLineBps({ connection: { effectiveType: '4g', downlink: 10 } }), null);
  assert.equal(slowLineBps({ connection: { effectiveType: '3g', downlink: 1 } }), 700_000);
  assert.equal(slowLineBps({ connection: { effectiveType: 'slow-2g', downlink: 0 } }), 150_000);
  assert.equal(
    slowLineBps({ connection: { effectiveType: '4g', downlink: 10, saveData: true } }),
    200_000,
  );
});
