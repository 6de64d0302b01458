import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresUrl } from '../settings/config-values.ts';
import { currentUrl, splitHosts } from './primary.ts';

test('a URL with several hosts is one URL for each of them', () => {
  const url = 'postgres://ada:a%2Cb@one:5433,two,[::1]:5432/feed?target_session_attrs=read-write';
  const rest = '/feed?target_session_attrs=read-write';
  assert.deepEqual(splitHosts(url), [
    `postgres://ada:a%2Cb@one:5433${rest}`,
    `postgres://ada:a%2Cb@two${rest}`,
    `postgres://ada:a%2Cb@[::1]:5432${rest}`,
  ]);
  assert.equal(currentUrl(url), splitHosts(url)[0]);
  assert.deepEqual(splitHosts('postgres://a,b:c@one/feed'), ['postgres://a,b:c@one/feed']);
});

test('such URLs are valid, unless they ask for something else than the server that takes writes', () => {
  const parse = postgresUrl();
  for (const valid of ['postgres://one/feed', 'postgresql://u@one:1,two:2/feed?sslmode=require']) {
    assert.deepEqual(parse(valid), { value: valid });
  }
  for (const wrong of [
    'postgres://one,two:x/feed',
    'postgres://one,/feed?target_session_attrs=standby',
    'http://one,two/feed',
  ]) {
    assert.ok('problem' in parse(wrong), wrong);
  }
});
