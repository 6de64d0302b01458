import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFixedValue, labelOf, otherLabel, type LabelField } from './labels.ts';

const known: Record<LabelField, string[]> = {
  entryPoint: ['feed', 'search', 'direct', 'share', 'other'],
  rendition: ['720p', '1080p60', '720', 'auto', '4k', '1280x720'],
  codec: [
    'h264',
    'avc1',
    'H.265',
    'avc1.64001f',
    'hvc1.1.6.L93.B0',
    'av01.0.05M.08',
    'vp09.00.10.08',
    'avc1.64001f,mp4a.40.2',
    'avc1.64001F, mp4a.40.2',
  ],
  errorCode: [
    '3',
    '404',
    '4003',
    '-11800',
    '-1009',
    'MEDIA_3',
    'MEDIA_ERR_DECODE',
    'ERROR_CODE_IO_NETWORK_CONNECTION_FAILED',
    'E1001',
    'manifestLoadError',
    'fragLoadTimeOut',
    'NotAllowedError',
    'network',
    'decode-error',
  ],
  appVersion: ['2.4.1', '2.4', '3.0.0-beta', 'v1.2.3', '2.4.1 (build 77)', 'ios-2.4.1+77', '412'],
  sharePlatform: ['copy_link', 'messages', 'whatsapp', 'other'],
  feedId: ['fed_1', 'fed_01jh2k3m4n5p6q7r8s9t0v1w2x'],
};

const ids = [
  'ada',
  'Ada Lovelace',
  'ada.lovelace@example.com',
  '84700931',
  '175928847299117063',
  '6f1c8f9e-0b1a-4d5c-9b0e-2f6a7c1d3e45',
  '6f1c8f9e0b1a4d5c9b0e2f6a7c1d3e45',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'auth0|5f7c8ec7c33c6c004bbafe82',
  'user_2Nq1xYQkQ4',
  'u-84700931',
  '+4917012345678',
  'feed ',
  'x'.repeat(65),
];

for (const [field, labels] of Object.entries(known) as [LabelField, string[]][]) {
  test(`${field}: what players and apps send is a label, and ids are not`, () => {
    for (const label of labels) assert.equal(labelOf(field, label), label);
    for (const id of ids) assert.equal(labelOf(field, id), otherLabel, id);
    for (const absent of [undefined, null, '', 5, {}]) assert.equal(labelOf(field, absent), '');
  });
}

test('a value of a fixed vocabulary is distinguished from one that only has the shape of a label', () => {
  const fixed: [name: string, value: string][] = [
    ['entryPoint', 'search'],
    ['rendition', '720p'],
    ['fromQuality', 'auto'],
    ['toQuality', '4k'],
    ['codec', 'h264'],
    ['errorCode', '404'],
    ['platform', 'whatsapp'],
    ['scope', 'author'],
  ];
  for (const [name, value] of fixed) {
    assert.equal(isFixedValue(name, value), true, `${name} ${value}`);
    assert.equal(isFixedValue(name, 'ada'), false, name);
  }
  assert.equal(isFixedValue('rendition', '1280x720'), false, 'of an open set');
  assert.equal(isFixedValue('appVersion', '412'), false, 'no field of `data`');
  assert.equal(isFixedValue('constructor', 'search'), false, 'an inherited name');
  assert.equal(isFixedValue('scope', 'search'), false);
});

test('a label is the same however many texts were labelled before it', () => {
  for (let index = 0; index < 5_000; index += 1) {
    assert.equal(labelOf('appVersion', `1.0.${index}`), `1.0.${index}`);
    assert.equal(labelOf('appVersion', `ada ${index}`), otherLabel);
  }
  const longest = `${'A'.repeat(59)}Error`;
  assert.equal(labelOf('errorCode', longest), longest);
  assert.equal(labelOf('errorCode', `A${longest}`), otherLabel, '65 characters');
});
