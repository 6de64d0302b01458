import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCues, toWebVtt } from './cues.ts';
import { decodeCaptions } from './encoding.ts';

const subRip = `1
00:00:01,000 --> 00:00:02,500
Hello & <i>welcome</i>

2
0:00:03,0 --> 0:00:04,000
second
line
`;

const webVtt = (text: string) => {
  const read = readCues(text);
  if ('problem' in read) throw new Error(read.problem);
  return toWebVtt(read.cues);
};

test('SubRip becomes WebVTT', () => {
  assert.equal(
    webVtt(subRip),
    'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:18000,LOCAL:00:00:00.000\n\n00:00:01.000 --> 00:00:02.500\nHello &amp; <i>welcome</i>\n\n' +
      '00:00:03.000 --> 00:00:04.000\nsecond\nline\n',
  );
});

test('WebVTT keeps its cues in the order of time and loses styles, notes and settings', () => {
  const text = `WEBVTT - a title\r
\r
STYLE\r
::cue { background: url(https://evil.example/x) }\r
\r
NOTE nothing\r
\r
late\r
01:00:00.000 --> 01:00:01.000 align:start line:0%\r
late\r
\r
00:01.000 --> 00:02.000\r
<v Ada>early</v>\r
`;
  assert.equal(
    webVtt(text),
    'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:18000,LOCAL:00:00:00.000\n\n00:00:01.000 --> 00:00:02.000\nearly\n\n01:00:00.000 --> 01:00:01.000\nlate\n',
  );
});

test('no active content survives in the text of a cue', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<b onclick="x">bold</b>',
    '<<i>script>alert(1)<</i>/script>',
    '&#60;script&#62;',
    'a < b > c',
    '{\\an8}top',
    'nul\u0000 and half \ud800',
  ];
  for (const text of hostile) {
    const rest = webVtt(`00:00.000 --> 00:01.000\nword ${text}\n`)
      .replace(/^WEBVTT\n.*\n\n.* --> .*\n/, '')
      .replaceAll(/<\/?[biu]>/g, '');
    assert.doesNotMatch(rest, /[<>]/, text);
    assert.ok(!rest.includes('\0'), text);
    assert.doesNotMatch(rest, /&#/, text);
    assert.ok(rest.isWellFormed(), text);
  }
});

test('encodings are recognized', () => {
  const text = '00:00.000 --> 00:01.000\nGrüße, café\n';
  const bigEndian = Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  const encoded: Record<string, Buffer> = {
    utf8: Buffer.from(text),
    'utf8 with a mark': Buffer.from(`\ufeff${text}`),
    utf16le: Buffer.from(`\ufeff${text}`, 'utf16le'),
    utf16be: bigEndian,
    latin: Buffer.from(text, 'latin1'),
  };
  for (const [name, bytes] of Object.entries(encoded)) {
    assert.match(webVtt(decodeCaptions(bytes)), /Grüße, café/, name);
  }
});

test('files that are not captions are reported', () => {
  for (const text of ['', 'WEBVTT', 'a plain text', '<html>', '00:02.000 --> 00:01.000\nback\n']) {
    assert.ok('problem' in readCues(text), text);
  }
  const many = '00:00.000 --> 00:01.000\nx\n\n'.repeat(20_001);
  assert.deepEqual(readCues(many), { problem: 'there are more than 20000 cues' });
  const long = `00:00.000 --> 00:01.000\n${'x'.repeat(2_001)}\n`;
  assert.deepEqual(readCues(long), { problem: 'a cue has more than 2000 characters' });
});
